import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { groupedByPlace, type Release, type ReleaseGroup, releaseName } from "../../../../web/src/charts/releases.ts";
import { labelsBeside, placedGroups } from "../../../../web/src/pages/investigate/releases/release-places.ts";
import {
  leadStart,
  releasesOf,
  releasesQuery,
  releasesSearch,
  spanAfter,
  versionedQuery,
  versionFieldIn,
} from "../../../../web/src/pages/investigate/releases/releases.ts";
import {
  isSearched,
  noteEntries,
  noteSearch,
  versionField,
} from "../../../../web/src/pages/investigate/releases/version-fields.ts";

const START = Date.UTC(2026, 10, 27);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const COLUMNS = ["version", "service", "first", "last", "entries"].map((name) => ({ name, type: "string" }));

/** A row of the answer, with minutes after the start of the span. */
function row(version: unknown, service: unknown, first: number, last: number, entries: number): unknown[] {
  const [from, to] = [first, last].map((at) => new Date(START + at * MINUTE).toISOString());
  return [version, service, from, to, entries];
}

function found(...rows: unknown[][]): Release[] {
  return releasesOf({ columns: COLUMNS, rows }, START, 10 * MINUTE);
}

describe("19: releases in a span", () => {
  it("are found by the fields that senders use for versions", () => {
    const fieldIn = (...names: string[]) => versionFieldIn(names.map((name) => ({ name, type: "string" })));
    expect(fieldIn("level", "version")).toBe("version");
    expect(fieldIn("release", 'resource."service.version"', "version")).toBe('resource."service.version"');
    expect(fieldIn("service.version")).toBe("service.version");
    expect(fieldIn("appVersion")).toBe("appVersion");
    expect(fieldIn("level", "conversion", "versions", "tls.version", "http.request.version")).toBe(null);
    expect(versionFieldIn([{ name: "release", type: "boolean" }])).toBe(null);
  });

  it("are asked for by a valid query", () => {
    for (const field of ["version", 'resource."service.version"', "data.version"])
      expect(parse(releasesQuery(field)), field).toMatchObject({ ok: true });
    expect(parse(versionedQuery())).toMatchObject({ ok: true });
  });

  it("are looked for in entries, too, whose members are named as in queries", () => {
    const scope = { workspaceId: "ws_1", projectId: null };
    noteEntries(scope, [{ data: { versions: 1 } }, {}]);
    expect(versionField(scope)).toBe(null);
    noteEntries(scope, [
      { data: { order: { version: 3 } } },
      { data: { resource: { "service.version": "1.0", os: { version: "6.1" } } } },
    ]);
    expect(versionField(scope)).toBe('resource."service.version"');
  });

  it("are not looked for again in a span that had no field, for ten minutes", () => {
    const scope = { workspaceId: "ws_2", projectId: null };
    const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();
    const isKnown = (from: number, to: number, now: number) =>
      isSearched(scope, { from: at(from), to: at(to) }, START + now * MINUTE);
    expect(isKnown(-60, 0, 0)).toBe(false);
    noteSearch(scope, { from: at(-60), to: at(0) }, START);
    expect(isKnown(-60, 0, 0)).toBe(true);
    // A relative range has moved with the clock; another one has entries that were not searched.
    expect(isKnown(-55, 5, 5)).toBe(true);
    expect(isKnown(-55, 6, 5)).toBe(false);
    expect(isKnown(-61, 0, 5)).toBe(false);
    expect(isKnown(-50, 10, 10)).toBe(false);
    expect(isSearched(scope, {}, START)).toBe(false);
    expect(isSearched({ ...scope, projectId: "proj_1" }, { from: at(-60), to: at(0) }, START)).toBe(false);
    noteSearch(scope, {}, START);
    expect(isSearched(scope, {}, START + MINUTE)).toBe(true);
  });

  it("are versions whose first entry is not at the beginning", () => {
    const releases = found(
      // Starts of three hosts, hours after the beginning and one entry only.
      row("5.8.0", "payments", 600, 600.2, 3),
      row("5.8.1", "payments", 700, 700, 1),
      // Ran before: an entry each minute, and one each hour.
      row("5.7.3", "payments", 0.5, 1400, 1400),
      row("1.0", "mailer", 55, 1400, 24),
      // Of all entries, a new one.
      row("2.0", "gateway", 300, 1400, 5000),
      row(812, null, 900, 1400, 50),
      row(null, "search", 900, 1400, 50),
    );
    expect(releases.map((release) => [releaseName(release), (release.at - START) / MINUTE])).toEqual([
      ["gateway 2.0", 300],
      ["payments 5.8.0", 600],
      ["payments 5.8.1", 700],
      ["812", 900],
    ]);
    expect(releases.map(({ previous }) => previous)).toEqual([null, "5.7.3", "5.8.0", null]);
  });

  it("begin with a span, too, if the time before it has no entry of the version", () => {
    const span = { start: START, end: START + HOUR };
    const lead = leadStart(span);
    expect(lead).toBe(START - 5 * MINUTE);
    const rows = [row("5.8.0", "payments", 0, 0.3, 6), row("5.7.3", "payments", -4.5, 60, 65)];
    expect(releasesOf({ columns: COLUMNS, rows }, lead, 0)).toEqual([
      { version: "5.8.0", service: "payments", at: START, previous: "5.7.3" },
    ]);
    // Of an edited link.
    expect(leadStart({ start: -8.64e15, end: 8.64e15 })).toBe(-8.64e15);
  });

  it("are the same on every page, also near the start of the span", () => {
    const span = { start: START, end: START + 24 * HOUR };
    const { start, read } = releasesSearch(span, false);
    expect(start).toBe(START - 2 * HOUR);
    // The second one ran already in the time before the span, and the third one only there.
    const early = row("5.7.3", "payments", 23, 1000, 900);
    const rows = [early, row("2.0", "search", -119, 1400, 900), row("1.9", "search", -60, -30, 20)];
    expect(read({ columns: COLUMNS, rows }).map(releaseName)).toEqual(["payments 5.7.3"]);
    // All time has nothing before it.
    expect(releasesSearch(span, true).start).toBe(START);
    expect(releasesSearch(span, true).read({ columns: COLUMNS, rows: [early] })).toEqual([]);
  });

  it("are the newest 20, and none of a field that numbers records", () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => row(`v${at}`, "api", 60 + at, 60 + at, 1));
    expect(found(...rows(30)).map(({ version }) => version)).toEqual(
      rows(30)
        .slice(10)
        .map(([version]) => version),
    );
    expect(found(...rows(201))).toEqual([]);
  });

  it("are compared until the next of the service, at most for a quarter of the span", () => {
    const release = (service: string, version: string, minutes: number): Release => {
      return { service, version, at: START + minutes * MINUTE, previous: null };
    };
    const [wrong, other, mended] = [
      release("payments", "5.8.0", 600),
      release("search", "3.2", 610),
      release("payments", "5.8.1", 670),
    ];
    const span = { start: START, end: START + 24 * HOUR };
    const minutes = (each: Release) => {
      const { start, end } = spanAfter(each, [wrong, other, mended], span);
      return [start, end].map((at) => (at - START) / MINUTE);
    };
    expect(minutes(wrong)).toEqual([600, 670]);
    expect(minutes(other)).toEqual([610, 970]);
    expect(minutes(mended)).toEqual([670, 1030]);
    expect(spanAfter({ ...wrong, at: span.end - 1 }, [], span).end).toBe(span.end - 1 + MINUTE);
  });

  it("share a mark in the middle of them if they are drawn close to each other, and no two marks touch", () => {
    const releases = [0, 5, 15, 17, 40].map((at) => ({ service: null, version: `v${at}`, at, previous: null }));
    const groups = groupedByPlace(releases, (at) => at, 16);
    expect(groups.map(({ place, places, releases: each }) => [place, places, each.length])).toEqual([
      [8.5, [0, 5, 15, 17], 4],
      [40, [40], 1],
    ]);
    // Each mark in the middle of two that are far apart is far from the next.
    const even = Array.from({ length: 30 }, (_, n) => ({ service: null, version: `v${n}`, at: 7 * n, previous: null }));
    const places = groupedByPlace(even, (at) => at, 16).map(({ place }) => place);
    expect(places.slice(1).every((place, at) => place - (places[at] ?? 0) >= 16)).toBe(true);
    expect(groupedByPlace(even, (at) => at, 16).flatMap((group) => group.places)).toEqual(even.map(({ at }) => at));
    // At the ends of a drawing they stay within it.
    const ends = groupedByPlace(releases, (at) => at, 2, { from: 8, to: 32 });
    expect(ends.map((group) => [group.place, group.places])).toEqual([
      [8, [0, 5]],
      [15, [15]],
      [17, [17]],
      [32, [40]],
    ]);
  });
});

describe("19: labels beside the marks of releases", () => {
  const release = (version: string, at: number): Release => ({ service: null, version, at, previous: null });
  const place = { from: 0, to: 1000, width: 1000, inset: { top: 0, bottom: 0, left: 0, right: 0 } };
  /** Labels of 50 pixels, and of 62 with a leader, beside the releases whose versions are not `-`. */
  const labelsIn = (isFree: () => boolean, ...releases: Release[]) => {
    const groups = placedGroups(releases, place);
    const labelOf = ({ places, releases: each }: ReleaseGroup) => {
      const named = each.findIndex(({ version }) => version !== "-");
      const text = each.map(({ version }) => version.replace("-", "")).join("");
      return named < 0 ? null : { text, line: places[named] ?? 0 };
    };
    const led = { start: (text: string) => `\u2013${text}`, end: (text: string) => `${text}\u2013` };
    const room = { from: 0, to: 1000, isFree };
    return labelsBeside(groups, labelOf, () => 50, room).map((label) =>
      label === null || label.leader === null
        ? (label?.left ?? null)
        : `${led[label.leader](label.text)} ${label.left}`,
    );
  };
  const labels = (...releases: Release[]) => labelsIn(() => true, ...releases);

  it("are after the sign and its lines, or before them where the next sign or the end is close", () => {
    expect(labels(release("a", 100))).toEqual([112]);
    expect(labels(release("a", 100), release("-", 174))).toEqual([112, null]);
    expect(labels(release("a", 100), release("-", 173))).toEqual([38, null]);
    expect(labels(release("a", 990))).toEqual([928]);
    // Two signs at one place have lines beside the shared sign.
    expect(labels(release("a", 100), release("b", 112))).toEqual([120]);
  });

  it("overlap neither each other nor a sign: without room they are below the signs, and without room there, there is none", () => {
    expect(labels(release("a", 40), release("-", 80))).toEqual(["\u2013a 41", null]);
    expect(labels(release("-", 100), release("a", 178), release("-", 200))).toEqual([null, 116, null]);
    expect(labels(release("a", 100), release("b", 180), release("-", 200))).toEqual([112, "b\u2013 117", null]);
    expect(labels(release("a", 30), release("b", 50), release("c", 70), release("-", 90))).toEqual([
      "\u2013a 31",
      null,
      null,
      null,
    ]);
    expect(labels(release("-", 930), release("a", 970))).toEqual([null, "a\u2013 907"]);
    expect(labels(release("a", 1000))).toEqual([]);
  });

  it("have a leader to their own line, over that of another release in their group", () => {
    expect(labels(release("-", 140), release("-", 200), release("a", 210), release("-", 230))).toEqual([
      null,
      "a\u2013 147",
      null,
    ]);
  });

  it("hide nothing of the drawing: where all of it has something, they are over it without a background, or not there", () => {
    expect(labelsIn(() => false, release("a", 100))).toEqual([112]);
    expect(labelsIn(() => false, release("a", 40), release("-", 80))).toEqual([null, null]);
    const groups = placedGroups([release("a", 100)], place);
    const labelled = (isFree: (start: number, end: number, isBelow: boolean) => boolean) =>
      labelsBeside(
        groups,
        () => ({ text: "a", line: 100 }),
        () => 50,
        { from: 0, to: 1000, isFree },
      )[0];
    expect(labelled(() => false)).toMatchObject({ leader: null, isOver: true });
    expect(labelled((start) => start < 100)).toMatchObject({ left: 38, leader: null, isOver: false });
    expect(labelled((start, _, isBelow) => isBelow && start < 100)).toMatchObject({ leader: "end", isOver: false });
  });
});
