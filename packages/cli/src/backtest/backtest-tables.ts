import type { BacktestReport } from '@allium/replay/backtest'
import { noneMatches } from '../recorded-arguments.ts'
import type { Table } from '../runs/table.ts'

/** How many rows of a table are printed. The JSON has all. */
const mostRows = 20

/** The longest text in a cell. */
const longest = 80

/** Returns a report as tables: a summary, the changes by layer, the changed calls, and what was not judged. */
export function backtestTables(report: BacktestReport): Table[] {
  const { agent, version, turns, calls, layers, changes, withoutHooks } = report
  const name = version === undefined ? agent : `${agent} (version ${version})`
  const summary = [
    [
      `${name}: ${counted(calls.judged, 'call')} of ${counted(turns.run, 'turn')} judged, ${calls.unchanged} unchanged.`,
    ],
  ]
  const notRun = reasonRows(turns.notReplayable)
  const hooked = new Set(layers.flatMap(({ layer, withoutHooks: hooks }) => (hooks.length > 0 ? [layer] : [])))
  return [
    summary,
    ...(turns.run === 0 && notRun.length === 0 ? [[[noneMatches]]] : []),
    ...titled(['CHANGE', 'CALLS', 'AFTER A CHANGED CALL', 'LAYER', 'REASON', 'TENANTS'], layers.map(layerRow)),
    ...titled(
      ['CHANGE', 'BEFORE', 'TOOL', 'LAYER', 'TENANT', 'OWNER', 'SESSION', 'TURN', 'CALL'],
      changes.map(callRow),
    ),
    ...titled(['CALLS NOT JUDGED', 'REASON'], reasonRows(calls.notJudged)),
    ...titled(['TURNS DIVERGED', 'REASON'], reasonRows(turns.diverged)),
    ...titled(['TURNS NOT RUN', 'REASON'], notRun),
    ...withoutHooks.filter(({ layer }) => hooked.has(layer)).map(({ layer, hooks }) => [[withoutHook(layer, hooks)]]),
  ]
}

function layerRow({ change, calls, afterChange, layer, reason, tenants }: BacktestReport['layers'][number]): string[] {
  const by = Object.entries(tenants).toSorted(([, a], [, b]) => b - a)
  const more = by.length > 3 ? [`${by.length - 3} more`] : []
  const shown = [...by.slice(0, 3).map(([tenant, count]) => `${tenant || '(none)'} ${count}`), ...more].join(', ')
  return [change, String(calls), String(afterChange), nameOf(layer), reason ?? '-', shown]
}

function callRow(one: BacktestReport['changes'][number]): string[] {
  const { change, before, tool, layer, tenant, owner, sessionId, turnId, callId } = one
  return [change, before, tool, nameOf(layer), tenant || '-', owner || '-', sessionId, turnId, callId]
}

function reasonRows(reasons: Readonly<Record<string, number>>): string[][] {
  const sorted = Object.entries(reasons).toSorted(([, a], [, b]) => b - a)
  return sorted.map(([reason, count]) => [String(count), reason])
}

function withoutHook(layer: string, hooks: readonly string[]): string {
  const names = hooks.length === 1 ? `${hooks[0]} hook` : `${hooks.join(' and ')} hooks`
  return `"${layer}" decided without its ${names}. Replay these turns to be sure.`
}

/** Nothing for no rows. Begins with an empty line. */
function titled(head: readonly string[], rows: readonly (readonly string[])[]): Table[] {
  if (rows.length === 0) return []
  const shown = rows.slice(0, mostRows).map((row) => row.map(short))
  const more = rows.length > mostRows ? [[[`${rows.length - mostRows} more rows: --json`]]] : []
  return [[head, ...shown], ...more]
}

function short(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

function nameOf(layer: string | undefined): string {
  return layer ?? '(core)'
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
