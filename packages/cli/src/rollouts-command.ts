import { parseArgs } from 'node:util'
import { type AgentStore, messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { UsageError } from './exit-codes.ts'
import { openRunStore } from './runs/open-run-store.ts'
import { print, report } from './runs/report.ts'
import { age } from './runs/run-tables.ts'
import type { Table } from './runs/table.ts'

type RolloutStore = NonNullable<AgentStore['rollouts']>
type RolloutState = Awaited<ReturnType<RolloutStore['list']>>[number]
type RolloutArm = RolloutState['canary']

const usage =
  'Write "allium rollouts --store <where>", "allium rollouts stop <name> --store <where>", or "restart" in place of "stop".'

/** `allium rollouts`, `allium rollouts stop tone` and `allium rollouts restart tone`. @throws UsageError */
export async function rolloutsCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parsed(argv)
  const [action, name, ...extra] = positionals
  const isKnown = action === undefined || ((action === 'stop' || action === 'restart') && name !== undefined)
  if (!isKnown || extra.length > 0) throw new UsageError(usage)
  const store = await openRunStore(values.store, context)
  try {
    const { rollouts } = store
    if (rollouts === undefined) throw new UsageError('The store has no rollouts.')
    const json = values.json === true
    if (name === undefined) return await show(rollouts, json, context)
    const isDone = action === 'stop' ? await stop(rollouts, name) : await rollouts.restart(name)
    return report({ rollout: name, done: isDone }, sentence(action === 'stop', name, isDone), { isDone, json }, context)
  } finally {
    await store.close()
  }
}

/** Also closes windows that are due, as each look does. */
async function show(store: RolloutStore, json: boolean, context: CommandContext): Promise<number> {
  const { rolloutEvidence, rolloutVerdict } = await import('@allium/combinators/rollout')
  const rollouts = []
  for (const { rollout } of await store.list()) {
    const state = await store.look(rollout)
    if (state === undefined) continue
    const counts = { canary: state.canary.scores, baseline: state.baseline.scores }
    const { maxDrop = 0, alpha = 0.05 } = state
    const verdict = rolloutVerdict(counts, { maxDrop, alpha })
    rollouts.push({ ...state, verdict, evidence: rolloutEvidence(counts, { maxDrop }) })
  }
  return print({ rollouts }, [tableOf(rollouts, Date.now())], json, context)
}

type Shown = RolloutState & {
  readonly verdict: string
  readonly evidence: { readonly [K in 'canary' | 'baseline']: number | undefined } & {
    readonly isWorse: number
    readonly isNotWorse: number
  }
}

function tableOf(rollouts: readonly Shown[], now: number): Table {
  const names = [
    'ROLLOUT',
    'ROUND',
    'AGE',
    'ARM',
    'USERS',
    'MEAN',
    'NO SCORE',
    'TURNS',
    'NO OUTCOME',
    'WORSE',
    'NOT WORSE',
    'VERDICT',
  ]
  const rows = rollouts.flatMap((one) => {
    const { rollout, round, startedAt, evidence, canary, baseline } = one
    const { isWorse, isNotWorse } = evidence
    return [
      [
        rollout,
        String(round),
        age(now - startedAt),
        'canary',
        ...armOf(canary, evidence.canary),
        eValue(isWorse),
        eValue(isNotWorse),
        verdictOf(one),
      ],
      ['', '', '', 'baseline', ...armOf(baseline, evidence.baseline)],
    ]
  })
  return [names, ...rows]
}

function armOf(
  { scores, usersWithoutScore, turns, turnsWithoutScore }: RolloutArm,
  mean: number | undefined,
): string[] {
  const users = scores.reduce((sum, count) => sum + count, 0)
  return [String(users), mean?.toFixed(3) ?? '-', ...[usersWithoutScore, turns, turnsWithoutScore].map(String)]
}

function verdictOf({ stopped, goodAt, verdict }: Shown): string {
  if (stopped !== undefined) return `stopped by ${stopped.by === 'verdict' ? 'its verdict' : 'an operator'}`
  return goodAt === undefined ? verdict : 'good'
}

/** 1 is no evidence; the verdict needs 1 / alpha. */
function eValue(value: number): string {
  return value >= 1000 || value < 0.001 ? value.toExponential(1) : value.toPrecision(3)
}

async function stop(store: RolloutStore, name: string): Promise<boolean> {
  const state = await store.look(name)
  return state !== undefined && store.decide(name, { round: state.round, verdict: 'stop', by: 'operator' })
}

function sentence(isStop: boolean, name: string, isDone: boolean): string {
  if (!isDone)
    return `There is no ${isStop ? 'running ' : ''}rollout "${name}" in the store. "allium rollouts" lists them.`
  return isStop
    ? `Stopped "${name}". All processes serve new turns without it within the time of their option "refresh".`
    : `Restarted "${name}" with a new round and no counts.`
}

function parsed(argv: readonly string[]) {
  try {
    const options = { store: { type: 'string' }, json: { type: 'boolean' } } as const
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(`${messageOf(error)} ${usage}`)
  }
}
