import fc from 'fast-check'
import type { SerializedConfig, TestContext } from 'vitest'
import { VitestTestRunner } from 'vitest/runners'
import { directJournal } from '../../src/ports/journal.ts'
import { World } from './world.ts'

type Test = TestContext['task']

/** How many times a test is run again; the last time every recorded step is replayed. */
const killings = 5

/**
 * Tests that run once: a replay keeps no reader's pace, the document's samples keep what they log in their module, and a
 * conformance case asks many turns under one id, which the world cannot tell apart.
 */
const once = /(samples|combinators-conformance|readers)\.test\.ts$/

/** Their turns are those of a process that they start, which this runner does not reach. */
const elsewhere = /in the stack of a mistake in a layer where|is the same error in production/

/** The world runs what it replays, so nobody can tell what had ended before another step was left. */
const unordered = /finished ones keep their result, and the layer answers after them/

function isOnce({ file, name }: Test): boolean {
  return once.test(file.name) || unordered.test(name) || elsewhere.test(name)
}

/** Runs each test once with its steps recorded, then again with every turn killed after its first step, its second, … */
export default class KilledRunner extends VitestTestRunner {
  readonly #world = new World()

  constructor(config: SerializedConfig) {
    super(config)
    fc.configureGlobal({ seed: 2026, numRuns: 200 }) // random tests ask for the same each time
    Object.assign(directJournal, { step: this.#world.step.bind(this.#world), compares: true, world: this.#world })
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test)
    Object.assign(test, { repeats: isOnce(test) ? 0 : killings })
  }

  override onBeforeTryTask(test: Test, { repeats }: { repeats: number } = { repeats: 0 }): void {
    super.onBeforeTryTask(test)
    this.#world.begin(repeats === killings ? Number.POSITIVE_INFINITY : repeats)
  }
}
