import { setTimeout as wait } from "node:timers/promises";
import type { Project } from "./project.ts";
import type { Random } from "./random.ts";
import type { Account, Service } from "./service.ts";

/** State that the actors of one round share. */
export interface World {
  /** Names the round in messages; unique in the run. */
  name: string;
  service: Service;
  account: Account;
  /** Projects that exist during the whole round, and the one that is deleted in the middle of it. */
  kept: readonly [Project, ...Project[]];
  deletedProject: Project;
  /** Each actor forks a separate generator. */
  random: Random;
  course: Course;
}

/** The time of the load, and the problems found. */
export class Course {
  readonly problems: string[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver || this.problems.length > 0;
  }

  end(): void {
    this.#isOver = true;
  }

  report(problems: readonly string[]): void {
    this.problems.push(...problems);
  }

  /** Runs an actor. Its error ends the round. */
  async run(name: string, actor: () => Promise<void>): Promise<void> {
    try {
      await actor();
    } catch (error) {
      this.report([`${name}: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  /** Waits for the given time, or until the end. */
  async pause(ms: number): Promise<void> {
    const until = performance.now() + ms;
    for (let left = ms; !this.isOver && left > 0; left = until - performance.now()) await wait(Math.min(20, left));
  }
}
