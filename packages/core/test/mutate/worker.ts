import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { differences, kindDifferences, unsteady } from '../explore/compare.ts'
import { exhaustive, exhaustiveCases } from '../explore/exhaustive.ts'
import { everything, generate, type Menu } from '../explore/generate.ts'
import type { Kind } from '../explore/kinds.ts'
import { stackDifferences, stackOf } from '../explore/packs.ts'
import { mutantsIn, resetHits, withMutant } from './switch.ts'
import { type CollectedTest, collect, collected } from './vitest.ts'

/*
 * Turns on one mutant after the other, as the parent process sends their ids, and answers with how it was found: by the explorer or by a
 * test that reaches it. Started with `--baseline file`, it writes which tests reach which mutants instead.
 */
const nothing: Menu = { late: false, streams: false, tools: false, turns: false }
const menus: Menu[] = [
  { ...nothing, streams: true, turns: true },
  { ...nothing, late: true },
  { ...nothing, late: true, tools: true },
  { ...nothing, late: true, streams: true, turns: true },
  everything,
]
const kinds: Kind[] = ['approval', 'output', 'sub-agent', 'provider tool']
/**
 * Milliseconds. A test that takes longer than `quick` without a mutant runs only for mutants that nothing else finds, and one that takes
 * longer than `slow` never. A test that takes longer than `given` with a mutant has found it.
 */
const limits = { quick: 100, slow: 4000, given: 15_000 }

/** The tests that reach each mutant, the quickest first, by their places in `collected`. */
type Coverage = Record<string, { quick: number[]; slow: number[] }>

interface Question {
  readonly id: string
  /** Nothing has found it before. */
  readonly thorough: boolean
}

let stray: string | undefined
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: unknown) => {
    stray ??= `${event}: ${error}`
  })

// The loader makes core read it from here.
Object.assign(globalThis, { later: import('../../src/later.ts') })

const tests = new URL('../', import.meta.url)
for (const file of readdirSync(tests).filter((name) => name.endsWith('.test.ts')))
  await collect(new URL(file, tests).href)
const byId = new Map(collected.map((test) => [test.id, test]))

const [, , flag, coverageFile = ''] = process.argv
if (flag === '--baseline') {
  const coverage = await baseline().catch((error: Error) => error)
  // An error that is thrown here is an uncaught exception, which the process survives.
  if (coverage instanceof Error) console.error(coverage.message)
  else writeFileSync(coverageFile, JSON.stringify(coverage))
  process.exitCode = coverage instanceof Error ? 1 : 0
} else serve(JSON.parse(readFileSync(coverageFile, 'utf8')))

function serve(coverage: Coverage): void {
  process.on('message', async ({ id, thorough }: Question) => {
    const { quick = [], slow = [] } = coverage[id] ?? {}
    const looks = thorough ? thoroughLooks([...quick, ...slow].map(testAt)) : looksFor(quick.map(testAt))
    const found = await withMutant(id, () => find(id in coverage ? looks : []))
    await settle()
    const onlyStray = found === undefined ? stray : undefined
    stray = undefined
    // What the mutant left behind must not count for the next one.
    const clean = onlyStray === undefined && (await find(check)) === undefined && (await passes(found))
    process.send?.({ id, reached: id in coverage, found: found ?? onlyStray, clean })
    stray = undefined
  })
  process.send?.({})
}

async function baseline(): Promise<Coverage> {
  const coverage: Coverage = {}
  const runs: { test: CollectedTest; took: number; reached: string[] }[] = []
  for (const test of collected) {
    const began = performance.now()
    let failed: unknown
    const reached = await mutantsIn(test.id, async () => void (failed = await failure(test)))
    const took = performance.now() - began
    // Tests that pass only once in a process tell nothing.
    for (let n = 0; n < 2; n++) failed ??= await failure(test)
    if (failed !== undefined) console.log(`Left out, because it fails here: ${test.id}: ${failed}`)
    else if (took > limits.slow) console.log(`Left out, because it takes ${took.toFixed(0)} ms: ${test.id}`)
    else runs.push({ test, took, reached })
  }
  const testsOf = (mutant: string) => (coverage[mutant] ??= { quick: [], slow: [] })
  for (const { test, took, reached } of runs.sort((a, b) => a.took - b.took))
    for (const mutant of reached) testsOf(mutant)[took > limits.quick ? 'slow' : 'quick'].push(collected.indexOf(test))
  let found: string | undefined
  const explored = await mutantsIn('explorer', async () => void (found = await find(cases(0, 100))))
  if (found !== undefined) throw new Error(`The explorer finds something without a mutant: ${found}`)
  for (const mutant of explored) testsOf(mutant)
  return coverage
}

/** Returns why it finds something; undefined if it does not. */
type Look = () => Promise<string | undefined>

/** Cases without a mutant. They find something only when the last mutant left something behind. */
const check: Look[] = menus.map((menu) => difference(() => differences(generate(77, menu))))

async function find(looks: Iterable<Look>): Promise<string | undefined> {
  for (const look of looks) {
    resetHits()
    process.send?.({ busy: true })
    const found = await look().catch((error: unknown) => `throws ${error}`)
    if (found !== undefined) return found
    if (stray !== undefined) return undefined
  }
  return undefined
}

/** How many mutants a test has found. Those that found many are tried first. */
const successes = new Map<string, number>()

function* looksFor(reaching: readonly CollectedTest[]): Generator<Look> {
  const finds = ({ id }: CollectedTest) => successes.get(id) ?? 0
  const [first, rest] = [reaching.filter(finds), reaching.filter((test) => finds(test) === 0)]
  yield* first.sort((a, b) => finds(b) - finds(a)).map(lookWith)
  yield* cases(0, 5)
  yield* rest.map(lookWith)
  yield* cases(5, 100)
}

function* thoroughLooks(reaching: readonly CollectedTest[]): Generator<Look> {
  yield* reaching.map(lookWith)
  yield* cases(100, 400)
}

function testAt(index: number): CollectedTest {
  return collected[index] as CollectedTest
}

function lookWith(test: CollectedTest): Look {
  return async () => {
    if ((await failure(test)) === undefined) return undefined
    successes.set(test.id, (successes.get(test.id) ?? 0) + 1)
    return test.id
  }
}

function* cases(first: number, end: number): Generator<Look> {
  for (let n = first; n < end; n++) {
    for (const [m, menu] of menus.entries()) yield difference(() => differences(generate(m * 1_000_000 + n, menu), n))
    const seed = 9_000_000 + n
    for (const kind of kinds) yield difference(() => kindDifferences(kind, generate(seed), seed))
    yield difference(() => stackDifferences(stackOf(n), n))
    yield difference(() => unsteady(generate(8_000_000 + n)))
    yield difference(() => differences(exhaustive(Math.floor((exhaustiveCases / 400) * n))))
  }
}

function difference(look: () => Promise<readonly { aspect: string }[]>): Look {
  return async () => (await look())[0]?.aspect
}

/** Returns why a test fails; undefined if it passes. */
async function failure({ run }: CollectedTest): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve('takes too long'), limits.given)
  })
  const ended = run().then(
    () => undefined,
    (error: unknown) => error ?? 'fails',
  )
  return Promise.race([ended, late]).finally(() => clearTimeout(timer))
}

/** Whether the test that found a mutant passes without it. */
async function passes(id: string | undefined): Promise<boolean> {
  const test = byId.get(id ?? '')
  return test === undefined || (await failure(test)) === undefined
}

async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}
