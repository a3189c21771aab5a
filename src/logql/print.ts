import type {
  Grouping,
  LabelTest,
  LogExpression,
  LogqlExpression,
  Matcher,
  MetricExpression,
  Stage,
  Unwrap,
} from "./syntax.ts";
import { printDuration } from "./units.ts";

/** Writes an expression as a query. */
export function printLogql(expression: LogqlExpression): string {
  return expression.kind === "logs" ? printLogs(expression) : printMetric(expression);
}

function printLogs({ matchers, stages }: LogExpression): string {
  return [`{${matchers.map(printMatcher).join(", ")}}`, ...stages.map(printStage)].join(" ");
}

function printMatcher({ name, operator, value }: Matcher): string {
  return `${name}${operator}${quoted(value)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function printStage(stage: Stage): string {
  switch (stage.kind) {
    case "line":
      return `${stage.operator} ${stage.texts.map(quoted).join(" or ")}`;
    case "json":
      return `| ${["json", printExtractions(stage.extractions)].filter(Boolean).join(" ")}`;
    case "logfmt": {
      const flags = [stage.isStrict && "--strict", stage.keepsEmpty && "--keep-empty"];
      return `| ${["logfmt", ...flags, printExtractions(stage.extractions)].filter(Boolean).join(" ")}`;
    }
    case "label":
      return `| ${printTest(stage.test)}`;
    case "line_format":
      return `| line_format ${quoted(stage.template.text)}`;
    case "label_format": {
      const formats = stage.formats.map((format) =>
        "template" in format ? `${format.label}=${quoted(format.template.text)}` : `${format.label}=${format.from}`,
      );
      return `| label_format ${formats.join(", ")}`;
    }
    case "drop":
    case "keep":
      return `| ${stage.kind} ${stage.labels.map(({ name, matcher }) => (matcher ? printMatcher(matcher) : name)).join(", ")}`;
  }
}

function printExtractions(extractions: readonly { label: string; text: string }[]): string {
  return extractions.map(({ label, text }) => `${label}=${quoted(text)}`).join(", ");
}

function printTest(test: LabelTest): string {
  switch (test.kind) {
    case "match":
      return printMatcher(test.matcher);
    case "compare":
      return `${test.name} ${test.operator} ${test.text}`;
    default:
      return `(${printTest(test.left)} ${test.kind} ${printTest(test.right)})`;
  }
}

function printMetric(expression: MetricExpression): string {
  switch (expression.kind) {
    case "number":
      return printNumber(expression.value);
    case "vector":
      return `vector(${printNumber(expression.value)})`;
    case "range": {
      const { fn, parameter, logs, unwrap, range, offset, grouping } = expression;
      const span = `[${printDuration(range)}]${offset === 0 ? "" : ` offset ${printDuration(offset)}`}`;
      const parts = [printLogs(logs), unwrap && printUnwrap(unwrap), span].filter(Boolean);
      const inner = `${parameter === null ? "" : `${printNumber(parameter)}, `}${parts.join(" ")}`;
      return `${fn}(${inner})${grouping ? ` ${printGrouping(grouping)}` : ""}`;
    }
    case "vector-aggregation": {
      const { fn, parameter, of, grouping } = expression;
      const inner = `${parameter === null ? "" : `${printNumber(parameter)}, `}${printMetric(of)}`;
      return `${fn}${grouping ? ` ${printGrouping(grouping)} ` : ""}(${inner})`;
    }
    case "binary": {
      const { operator, isBool, left, right } = expression;
      return `(${printMetric(left)} ${operator}${isBool ? " bool" : ""} ${printMetric(right)})`;
    }
  }
}

function printNumber(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function printUnwrap({ label, conversion, tests }: Unwrap): string {
  const name = conversion === "number" ? label : `${conversion}(${label})`;
  return [`| unwrap ${name}`, ...tests.map((test) => `| ${printTest(test)}`)].join(" ");
}

function printGrouping({ isWithout, labels }: Grouping): string {
  return `${isWithout ? "without" : "by"} (${labels.join(", ")})`;
}
