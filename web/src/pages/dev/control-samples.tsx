import { Clock, Download, Pencil, RotateCw, Settings2, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Popover } from "../../ui/popover.tsx";
import segments from "../../ui/segments.module.css";
import { Select } from "../../ui/select.tsx";

const LOOKS = ["primary", "plain", "quiet", "danger"] as const;
const RANGES = [
  { value: "15m", label: "Last 15 minutes" },
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 hours" },
] as const;
const nothing = (): void => undefined;

/** Buttons, lists, boxes and fields in their states. */
export function ControlSamples() {
  const [range, setRange] = useState<(typeof RANGES)[number]["value"]>("1h");
  const select = { value: range, options: RANGES, onChange: setRange };
  return (
    <>
      <Card title="Buttons">
        {[false, true].map((small) => (
          <Row key={String(small)}>
            {LOOKS.map((look) => (
              <Button key={look} look={look} small={small}>
                {look}
              </Button>
            ))}
            <Button small={small} icon={Download}>
              Icon
            </Button>
            <Button small={small} aria-pressed>
              Pressed
            </Button>
            <Button small={small} disabled>
              Disabled
            </Button>
            <Button small={small} busy>
              Busy
            </Button>
            <IconButton small={small} icon={RotateCw} label="Refresh" shortcut="r" />
            <Copy text="copied" />
          </Row>
        ))}
      </Card>
      <Card title="Lists and boxes">
        <Row>
          <Menu
            label="Menu"
            items={[
              { label: "Rename", icon: Pencil, shortcut: "e", onSelect: nothing },
              { label: "Not now", isDisabled: true, onSelect: nothing },
              { label: "Delete", icon: Trash2, isDanger: true, startsGroup: true, onSelect: nothing },
            ]}
          />
          <Popover label="Popover" icon={Settings2}>
            {(close) => (
              <div class="stack">
                <Field label="Name">{(props) => <input {...props} />}</Field>
                <Button onClick={close}>Done</Button>
              </div>
            )}
          </Popover>
        </Row>
        <Field label="Select">{(props) => <Select {...props} {...select} icon={Clock} />}</Field>
        <Field label="Select, disabled">{(props) => <Select {...props} {...select} disabled />}</Field>
        <Row>
          <Select label="Small" small {...select} />
          <Select label="Quiet" small look="quiet" {...select} />
        </Row>
        <fieldset class={segments.segments}>
          <legend class="visually-hidden">Segments</legend>
          {RANGES.map(({ value, label }) => (
            <label key={value} data-chosen={value === range}>
              <input type="radio" checked={value === range} onChange={() => setRange(value)} />
              {label}
            </label>
          ))}
        </fieldset>
      </Card>
      <Card title="Fields">
        <Field label="Name" hint="At most 80 characters.">
          {(props) => <input {...props} placeholder="shop" />}
        </Field>
        <Field label="Path" error="A path starts with a slash.">
          {(props) => <input {...props} value="logger" />}
        </Field>
        <Field label="Disabled">{(props) => <input {...props} value="shop" disabled />}</Field>
        <Row>
          <label>
            <input type="checkbox" checked /> Checkbox
          </label>
          <label>
            <input type="radio" checked /> Radio
          </label>
        </Row>
      </Card>
    </>
  );
}
