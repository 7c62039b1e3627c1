import { Agent, type Middleware } from '@allium/core'
import { persist } from '@allium/memory'
import type { RunStore } from '@allium/store'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import fc from 'fast-check'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const effects = ['pay', 'mail'] as const
type Effect = (typeof effects)[number]

type Named = Middleware & { name: string }
/** Layers that a build can have, by name. All but `policy` let every call through. */
const layers: Readonly<Record<string, () => Named>> = {
  watch: () => ({ name: 'watch', tool: (_, next) => next(), model: (_, next) => next() }),
  watch2: () => ({ name: 'watch', options: { level: 2 }, tool: (_, next) => next(), model: (_, next) => next() }),
  fee: () => ({
    name: 'fee',
    async model(ctx, next) {
      await ctx.once('fee', () => 1, { per: 'attempt' })
      return next()
    },
  }),
  again: () => ({ name: 'again', tool: (_, next) => next().catch(() => next()) }),
  policy: () => ({ name: 'policy', tool: (ctx) => ctx.deny('Not today.') as never }),
  quiet: () => ({ name: 'policy', tool: (_, next) => next() }),
}

/** A build of the agent. */
interface Build {
  layers: readonly string[]
  /** The JSON Schema of both tools. */
  schema: Record<string, unknown>
  requireApproval: boolean
}

const layerNames = fc.uniqueArray(fc.constantFrom('watch', 'fee', 'again'), { maxLength: 2 })
const before: fc.Arbitrary<Build> = fc.record({
  layers: fc
    .tuple(layerNames, fc.constantFrom(true, true, false))
    .map(([names, isGuarded]) => (isGuarded ? [...names, 'quiet'] : names)),
  schema: fc.constant({}),
  requireApproval: fc.constant(false),
})
const change = fc.constantFrom<(build: Build, names: string[]) => Build>(
  (build) => build,
  (build, names) => ({ ...build, layers: [...names, ...build.layers.filter((name) => !names.includes(name))] }),
  (build) => ({ ...build, layers: build.layers.slice(1) }),
  (build) => ({ ...build, layers: build.layers.toReversed() }),
  (build) => ({ ...build, layers: build.layers.map((name) => (name === 'quiet' ? 'policy' : name)) }),
  (build) => ({ ...build, layers: build.layers.map((name) => (name === 'watch' ? 'watch2' : name)) }),
  (build) => ({ ...build, schema: { type: 'object' } }),
  (build) => ({ ...build, requireApproval: true }),
)

/** A run of one build that dies after so many records, and another build that takes it over. */
export const deployCases = fc.record({
  before,
  now: fc.tuple(before, change, layerNames).map(([build, changed, names]) => ({ build, changed, names })),
  dieAfter: fc.integer({ min: 2, max: 6 }),
})
export type DeployCase = typeof deployCases extends fc.Arbitrary<infer Case> ? Case : never

/** Runs a case. Returns how the run ended, and every effect that ran although it was recorded, or is missing in the history. */
export async function deployed({ before, now: { changed, names }, dieAfter }: DeployCase) {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const recorded = new Set<Effect>()
  const wrong: string[] = []
  const started = (version: '1' | '2', build: Build, runs: RunStore, own: ReturnType<typeof manualClock>) => {
    const tools = effects.map((name) => ({
      name,
      description: name,
      jsonSchema: build.schema,
      requireApproval: build.requireApproval,
      execute() {
        if (recorded.has(name)) wrong.push(`${name} ran twice`)
        return 'done'
      },
    }))
    const script = effects.map((name) => ({ toolCalls: [{ name, callId: name, args: {} }] }))
    const model = {
      id: 'scripted/model',
      stream: (request: Parameters<ReturnType<typeof scriptedModel>['stream']>[0]) => {
        const done = request.messages.filter(({ role }) => role === 'tool').length
        return scriptedModel([script[done] ?? 'Done.']).stream(request)
      },
    }
    const agent = new Agent({ version, model, tools, clock: own, logger }).use(persist({ store: store.sessions }))
    for (const name of build.layers) agent.use((layers[name] as () => Named)())
    const accepts = version === '1' ? [] : ['1']
    return durable(agent, { store: { ...store, runs }, accepts, lease: 1000, clock: own, logger })
  }

  const { runs: dying, dead } = diesAfter(store, dieAfter, (id) => {
    for (const effect of effects) if (id.includes(`:tool:${effect}:`)) recorded.add(effect)
  })
  const first = started('1', before, dying, manualClock())
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Go.' })
  const ended = await Promise.race([dead.then(() => undefined), endOf(first, run)])
  if (ended !== undefined) return { ended, wrong, isStopped: false, isMoved: false }
  await clock.advance(1500)

  const second = started('2', changed(before, names), store.runs, clock)
  await second.recover()
  let end = await endOf(second, run)
  const isStopped = end.code === 'journal.diverged'
  const isMoved = isStopped && (await moves(second, run, clock))
  if (isMoved) end = await endOf(second, run)
  await second.drain()
  if (isStopped && !isMoved) {
    const former = started('1', before, store.runs, clock)
    if (!(await former.retry(run, { principal }))) wrong.push('the build that began the run cannot continue it')
    end = await endOf(former, run)
    await former.drain()
  }
  for (const effect of recorded)
    if (end.status === 'completed' && end.toolCalls?.find(({ name }) => name === effect)?.result?.isError !== false)
      wrong.push(`${effect} is missing in the history`)
  return { ended: end, wrong, isStopped, isMoved }
}

/** A process that dies when it records its step with this number. Its record is lost, and it does nothing more. */
function diesAfter({ runs }: SqliteStore, steps: number, onRecord: (id: string) => void) {
  let count = 0
  let die = () => {}
  const dead = new Promise<void>((resolve) => (die = resolve))
  const record: RunStore['record'] = async (lease, run, step) => {
    if (++count > steps) {
      die()
      return new Promise(() => {})
    }
    await runs.record(lease, run, step)
    onRecord(step.id)
  }
  return { runs: Object.assign(Object.create(runs) as RunStore, { record }), dead }
}

/** Moves the run, if it fits. A rehearsal waits one lease for recorded calls that the code may still request. */
async function moves(runs: Durable, run: string, clock: ReturnType<typeof manualClock>) {
  const migration = runs.migrate(run, { principal, to: '2' })
  let isOver = false
  migration.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) await clock.advance(100)
  return (await migration).moved
}

async function endOf(runs: Durable, run: string) {
  for (;;) {
    const info = await runs.get(run, { principal })
    if (info.status !== 'running' && info.status !== 'queued') return info
    await new Promise((resolve) => setImmediate(resolve))
  }
}
