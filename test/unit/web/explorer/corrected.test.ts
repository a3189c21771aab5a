import { describe, expect, it } from "vitest";
import { askedOf } from "../../../../web/src/pages/explorer/search/asked.ts";
import { corrected } from "../../../../web/src/pages/explorer/search/corrected.ts";

describe("the button of a hint", () => {
  it.each([
    ["level:error or level:fatal", "level:error OR level:fatal", "OR"],
    ["level:error or level:fatal or level:warn", "level:error OR level:fatal OR level:warn", "OR"],
    ["level:error and status:500", "level:error AND status:500", "AND"],
    ["level:error not status:500", "level:error NOT status:500", "NOT"],
    ['"this or that" level:error or level:warn', '"this or that" level:error OR level:warn', "OR"],
  ])("corrects %s", (query, better, use) => {
    expect(askedOf(query).hints.map(({ correction }) => correction)).toEqual([use]);
    expect(corrected(query, use)).toBe(better);
    expect(askedOf(better).hints).toEqual([]);
  });

  it("is not there where there is no one likely meaning", () => {
    const [hint] = askedOf("status:5xx").hints;
    expect(hint?.message).toContain("compares the whole value");
    expect(hint).not.toHaveProperty("correction");
  });

  it("finds nothing to correct in a text that is corrected, has other words or is no query", () => {
    for (const query of ["a:1 OR b:2", "a:1 and b:2", "payment", "", "a:1 or ("])
      expect(corrected(query, "OR"), query).toBe(null);
  });
});
