import { expect } from 'vitest'

/*
 * Stands in for `vitest` while mutants are tried: tests are collected once and run again and again in one process, because importing them
 * takes longer than running them.
 */
export * from 'vitest'

type Body = (...args: never[]) => unknown
type Hook = () => unknown

interface Suite {
  readonly title: string
  readonly before: Hook[]
  readonly after: Hook[]
}

export interface CollectedTest {
  readonly id: string
  /** Rejects if the test fails. */
  run(): Promise<void>
}

export const collected: CollectedTest[] = []
let path: Suite[] = [{ title: '', before: [], after: [] }]
let cleanups: Hook[] = []

/** Collects the tests of a file. */
export async function collect(file: string): Promise<void> {
  path = [{ title: file, before: [], after: [] }]
  await import(file)
}

export const describe = withEach((title: string, ...rest: unknown[]) => {
  const outer = path
  path = [...outer, { title, before: [], after: [] }]
  bodyOf(rest)()
  path = outer
})

export const it = withEach((title: string, ...rest: unknown[]) => {
  const suites = path
  const body = bodyOf(rest)
  const id = [...suites.map((suite) => suite.title), title, collected.length].join(' > ')
  collected.push({ id, run: () => runTest(suites, body) })
})
export { it as test }

const stubbed: Record<string, string | undefined> = {}

/** Tests that use more of it are left out. */
export const vi = {
  stubEnv(name: string, value: string) {
    if (!(name in stubbed)) stubbed[name] = process.env[name]
    process.env[name] = value
  },
  unstubAllEnvs() {
    for (const [name, value] of Object.entries(stubbed))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  },
}

export const beforeEach = (hook: Hook) => void path.at(-1)?.before.push(hook)
export const afterEach = (hook: Hook) => void path.at(-1)?.after.push(hook)
export const onTestFinished = (hook: Hook) => void cleanups.unshift(hook)

async function runTest(suites: readonly Suite[], body: Body): Promise<void> {
  cleanups = []
  for (const { before } of suites) for (const hook of before) await hook()
  try {
    await (body as (context: object) => unknown)({ expect, onTestFinished })
  } finally {
    for (const { after } of suites) for (const hook of after) await hook()
    for (const hook of cleanups) await hook()
  }
}

function bodyOf(rest: readonly unknown[]): Body {
  return rest.find((one) => typeof one === 'function') as Body
}

type Declare = (title: string, ...rest: unknown[]) => void

function withEach(declare: Declare) {
  const each =
    (rows: readonly unknown[]) =>
    (title: string, ...rest: unknown[]) => {
      for (const row of rows) declare(title, () => bodyOf(rest)(...((Array.isArray(row) ? row : [row]) as never[])))
    }
  return Object.assign(declare, { each })
}
