/**
 * The code in the docs is compiled and run. In README.md, docs/ and the packages' README files:
 *
 * - ` ```ts ` is a program: type-checked with all others, and run in a process without keys.
 * - ` ```tsx ` is type-checked only: it needs a page.
 * - ` ```ts no-run ` is type-checked only: it needs a key, a server, or would not end.
 * - ` ```ts continues ` goes on with the program of the fence before it.
 * - ` ```text output ` is what the program before it must print; several of one program follow each other.
 * - A comment that begins with the line `<!-- setup` and ends with `-->` is code before the next fence that readers do
 *   not see, such as a scripted `model`.
 *
 * Programs of a package's README import what that package depends on; all others what docs/ does.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { findPages, root } from './pages.ts'
import { clearPrograms, type Program, writePrograms } from './programs.ts'
import type { Outcome } from './run-programs.ts'
import { typeCheck } from './type-check.ts'

const pages = findPages()
clearPrograms(pages)
const programs = pages.flatMap(writePrograms)
const running = programs.filter(({ runs }) => runs)

describe('each ts fence of the docs', () => {
  let problems: string[]
  let outcomes: Map<string, Outcome>

  beforeAll(async () => {
    const ran = run(running) // in a process of its own, while the compiler works here
    problems = typeCheck(programs)
    outcomes = await ran
  }, 60_000)

  test('compiles', () => {
    expect(programs.length).toBeGreaterThan(30)
    expect(problems.join('\n')).toBe('')
  })

  test.each(running.map((program) => [program.place, program] as const))('runs %s', (place, { file, page, output }) => {
    const { printed, error } = outcomes.get(file) ?? { printed: '', error: 'The process ended before it.' }
    if (error !== undefined) expect.fail(`${place} failed:\n${error.replaceAll(/[^\s(]*\.cache\/docs\/[^:]*/g, page)}`)
    if (output !== undefined) expect(printed.trimEnd(), `what ${place} prints`).toBe(output.trimEnd())
  })
})

function run(list: readonly Program[]): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const runner = fileURLToPath(new URL('./run-programs.ts', import.meta.url))
  return new Promise((resolve, reject) => {
    const child = fork(
      runner,
      list.map(({ file }) => file),
      {
        cwd: root,
        execArgv: ['--conditions=@allium/source', '--import=tsx'],
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      },
    )
    child.on('message', (outcome: Outcome) => outcomes.set(outcome.file, outcome))
    child.on('error', reject)
    child.on('exit', () => resolve(outcomes))
  })
}
