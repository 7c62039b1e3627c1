import type { Operations, RunsSummary, ShownEntry, ShownRun } from '@allium/durable/operations'
import type { Table } from './table.ts'

type Page = Awaited<ReturnType<Operations['list']>>

export function listTables({ items, cursor }: Page, now: number): Table[] {
  const names = ['RUN', 'TENANT', 'OWNER', 'AGENT', 'VERSION', 'STATUS', 'CODE', 'ATTEMPTS', 'CHANGED']
  const rows = items.map(({ run, key, agent, version, status, code = '', attempts, updatedAt }) => [
    ...[run, key.tenant, key.owner, agent, version, status, code, String(attempts), `${age(now - updatedAt)} ago`],
  ])
  const more = cursor === undefined ? [] : [[[`More runs: --cursor '${cursor}'`]]]
  return [[names, ...rows], ...more]
}

export function summaryTables({ groups, failures }: RunsSummary): Table[] {
  const counts = groups.map(({ status, agent, version, queue, count, oldestAge }) => [
    ...[status, agent, version, queue, String(count), age(oldestAge)],
  ])
  const codes = failures.map(({ code, count }) => [code, String(count)])
  const tables = [[['STATUS', 'AGENT', 'VERSION', 'QUEUE', 'RUNS', 'OLDEST'], ...counts]]
  return codes.length === 0 ? tables : [...tables, [['FAILURE', 'RUNS'], ...codes]]
}

export function showTables({ run, timeline, hasEarlier, pending, usage, cost }: ShownRun): Table[] {
  const { key, agent, version, queue, status, code, attempts, runAt } = run
  const facts: Table = [
    ['run', run.run],
    ['tenant', key.tenant],
    ['owner', key.owner],
    ['session', key.sessionId],
    ['agent', version === '' ? agent : `${agent} ${version}`],
    ['queue', queue],
    ['status', code === undefined ? status : `${status} (${code})`],
    ['attempts', String(attempts)],
    ['due', time(runAt)],
    ...(usage === undefined
      ? []
      : [['usage', `${usage.inputTokens} in, ${usage.outputTokens} out, ${usage.calls} calls`]]),
    ...(cost === undefined ? [] : [['cost', dollars(cost)]]),
    ...pending.map(({ callId, name }) => ['waits for', `${name} (${callId})`]),
  ]
  const rows = timeline.map((entry, i) => {
    const previous = timeline[i - 1]
    return [
      time(entry.at),
      previous === undefined ? '' : `+${age(entry.at - previous.at)}`,
      ...describe(entry, run.run),
    ]
  })
  const earlier = hasEarlier ? [['…', '', 'earlier entries are not shown', '', '', '']] : []
  return [facts, [['TIME', 'AFTER', 'WHAT', 'CLAIM', 'TOKENS', 'COST'], ...earlier, ...rows]]
}

function describe(entry: ShownEntry, run: string): [what: string, ...string[]] {
  if (entry.type === 'claimed') return [`claimed, attempt ${entry.attempt}`, '', '', '']
  if (entry.type === 'ended')
    return [`${entry.status}${entry.code === undefined ? '' : ` (${entry.code})`}`, '', '', '']
  if (entry.type !== 'step') return [entry.type === 'stop' ? 'stop requested' : entry.type, '', '', '']
  const { step, claim, spent } = entry
  const tokens = spent === undefined ? '' : `${spent.inputTokens} in, ${spent.outputTokens} out`
  const cost = spent?.cost === undefined ? '' : dollars(spent.cost)
  return [`step ${step.startsWith(run) ? step.slice(run.length + 1) : step}`, String(claim), tokens, cost]
}

/** Calls cost fractions of a cent. */
function dollars(cost: number): string {
  return `$${cost < 0.01 ? Number(cost.toPrecision(2)) : cost.toFixed(2)}`
}

function time(at: number): string {
  return new Date(at).toISOString()
}

function age(ms: number): string {
  if (ms < 1000) return `${Math.max(0, ms)}ms`
  const seconds = ms / 1000
  if (seconds < 120) return `${Math.round(seconds)}s`
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)}h` : `${Math.round(seconds / 86_400)}d`
}
