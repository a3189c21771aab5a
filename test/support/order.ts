import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Lanes whose files run in turn: some mostly wait, others mostly compute, and neither fills two cores alone. */
const MIXED: readonly string[] = ["api", "e2e", "sdk"];

/**
 * Spreads the files of the mixed lanes evenly, each lane in vitest's own order (slow or large files first). The other
 * lanes, of short files, follow: at the end no long file runs alone.
 */
export default class MixedLanes extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placed = MIXED.flatMap((lane) => {
      const own = sorted.filter(({ project }) => project.name === lane);
      return own.map((file, index) => ({ file, place: (index + 0.5) / own.length }));
    });
    const mixed = placed.sort((a, b) => a.place - b.place).map(({ file }) => file);
    return [...mixed, ...sorted.filter(({ project }) => !MIXED.includes(project.name))];
  }
}
