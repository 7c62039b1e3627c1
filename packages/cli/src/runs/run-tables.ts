import type { Operations, RunsSummary, ShownEntry, ShownRun } from '@allium/durable/operations'
import type { Table } from './table.ts'

type Page = Awaited<ReturnType<Operations['list']>>

export function listTables({ items, cursor }: Page, now: number): Table[] {
  const names = [
    ...['RUN', 'TENANT', 'OWNER', 'SESSION', 'AGENT', 'VERSION', 'QUEUE', 'STATUS', 'CODE', 'ATTEMPTS'],
    ...['AGE', 'CHANGED', 'HOLDER', 'LEASE'],
  ]
  const short = shortIds(items.map(({ run }) => run))
  const rows = items.map(({ run, key, agent, version, queue, status, code, attempts, ...one }) => [
    ...[short(run), key.tenant, key.owner, key.sessionId, agent, version, queue, status, code ?? '-', String(attempts)],
    ...[age(now - one.addedAt), `${age(now - one.updatedAt)} ago`],
    ...[isActive(status) ? (one.worker ?? 'unknown') : '-', leaseOf({ status, ...one }, now)],
  ])
  return [[names, ...rows], ...moreOf('runs', cursor)]
}

export function moreOf(what: string, cursor: string | undefined): Table[] {
  return cursor === undefined ? [] : [[[`More ${what}: --cursor '${cursor}'`]]]
}

/** Shortens ids to their first eight characters, or to as many as tell the ids of the page apart. */
function shortIds(ids: readonly string[]): (id: string) => string {
  const longest = Math.max(8, ...ids.map((id) => id.length))
  let length = 8
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < new Set(ids).size) length += 4
  return (id) => id.slice(0, length)
}

function isActive(status: string): boolean {
  return status === 'running' || status === 'lost'
}

function leaseOf({ status, heldUntil }: Pick<Page['items'][number], 'status' | 'heldUntil'>, now: number): string {
  if (status === 'lost') return 'ended'
  return heldUntil === undefined ? '-' : `${age(heldUntil - now)} left`
}

export function queueTables(queues: Awaited<ReturnType<Operations['queues']>>): Table[] {
  const names = ['QUEUE', 'QUEUED', 'OLDEST', 'RUNNING', 'LOST', 'CONCURRENCY', 'PER TENANT', 'PER PROCESS', 'RATE']
  const rows = queues.map(({ queue, queued, running, lost, oldestAge, limits }) => {
    const { concurrency = '-', perTenant = '-', workerConcurrency = '-', rateLimit } = limits ?? {}
    const rate = rateLimit === undefined ? '-' : `${rateLimit.limit} in ${age(rateLimit.period)}`
    const counts = [queued, queued === 0 ? '-' : age(oldestAge), running, lost]
    return [queue, ...[...counts, concurrency, perTenant, workerConcurrency, rate].map(String)]
  })
  return [[names, ...rows]]
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
  const { key, agent, version, queue, status, code, attempts, runAt, addedAt, worker, heldUntil } = run
  const facts: Table = [
    ['run', run.run],
    ['tenant', key.tenant],
    ['owner', key.owner],
    ['session', key.sessionId],
    ['agent', version === '' ? agent : `${agent} ${version}`],
    ['queue', queue],
    ['status', code === undefined ? status : `${status} (${code})`],
    ...(isActive(status) ? [['holder', worker ?? 'unknown']] : []),
    ...(heldUntil === undefined ? [] : [['lease until', time(heldUntil)]]),
    ['attempts', String(attempts)],
    ['added', time(addedAt)],
    ['due', time(runAt)],
    ...(usage === undefined
      ? []
      : [['usage', `${usage.inputTokens} in, ${usage.outputTokens} out, calls: ${usage.calls}`]]),
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
  if (entry.type === 'claimed')
    return [`claimed${entry.worker === undefined ? '' : ` by ${entry.worker}`}, attempt ${entry.attempt}`, '', '', '']
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

export function time(at: number): string {
  return new Date(at).toISOString()
}

export function age(ms: number): string {
  if (ms < 1000) return `${Math.max(0, ms)}ms`
  const seconds = ms / 1000
  if (seconds < 120) return `${Math.round(seconds)}s`
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)}h` : `${Math.round(seconds / 86_400)}d`
}
