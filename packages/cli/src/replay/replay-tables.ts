import type { ReplayedTurn, ReplayReport } from '@allium/replay/replay'
import { noneMatches } from '../recorded-arguments.ts'
import type { Table } from '../runs/table.ts'

/** How many rows of a table are printed. The JSON has all. */
const mostRows = 20

/** The longest text in a cell of a list, and in a lane. */
const [longest, lane] = [80, 60]

/** Returns a turn step by step: on the left as recorded, on the right as replayed. */
export function lanesTables(turn: ReplayedTurn): Table[] {
  const { turnId, verdict, reason, lanes, divergedAt, differences, requests, notes } = turn
  if (verdict === 'notReplayable') return [[[`Turn ${turnId} cannot be replayed: ${reason}.`]]]
  const rows = lanes.map(({ step, recorded = '-', replayed = '-', differs }, at) => [
    differs ? '!' : ' ',
    step,
    cut(recorded, lane),
    cut(replayed, lane),
    at === divergedAt ? '<- diverged here' : '',
  ])
  const fields = differences.map(({ step, field, layer = '-', recorded = '-', replayed = '-' }) => [
    ...[step, field, layer, cut(recorded, lane), cut(replayed, lane)],
  ])
  const shown = requests.length > 0 && !differences.some(({ kind }) => kind === 'request')
  return [
    [[`Turn ${turnId}: ${verdict === 'same' ? 'no difference' : counted(differences.length, 'difference')}.`]],
    [['', 'STEP', 'RECORDED', 'REPLAYED', ''], ...rows],
    ...titled(['DIFFERENCE', 'FIELD', 'LAYER', 'RECORDED', 'REPLAYED'], fields),
    ...(shown ? [[[`${counted(requests.length, 'field')} of requests differ, too. --mode exact counts them.`]]] : []),
    ...titled(
      ['NOTE'],
      notes.map((note) => [note]),
    ),
  ]
}

/** Returns the summary of many turns. */
export function summaryTables(report: ReplayReport, unread: Readonly<Record<string, number>>): Table[] {
  const { mode, replayed, same, different, notReplayable, byLayer, notes, turns } = report
  const differing = turns.filter(({ verdict }) => verdict === 'different')
  const notRead = countRows({ ...notReplayable, ...unread })
  return [
    [[`${counted(replayed, 'turn')} replayed (${mode}): ${same} the same, ${different} with differences.`]],
    ...titled(['LAYER', 'TURNS'], countRows(byLayer)),
    ...titled(['TURN', 'SESSION', 'DIVERGED AT', 'RECORDED', 'REPLAYED'], differing.map(turnRow)),
    ...(replayed === 0 && notRead.length === 0 ? [[[noneMatches]]] : []),
    ...titled(['TURNS NOT REPLAYED', 'COUNT'], notRead),
    ...titled(['NOTE', 'TURNS'], countRows(notes)),
    ...(differing.length > 0 ? [[['Show one: allium replay … --turn <id>']]] : []),
  ]
}

function turnRow({ turnId, key, lanes, divergedAt, differences }: ReplayedTurn): string[] {
  const [first] = differences
  const { step = first?.step ?? '-' } = lanes[divergedAt ?? -1] ?? {}
  const { recorded = '-', replayed = '-' } = differences.find((one) => one.step === step) ?? first ?? {}
  return [turnId, key.sessionId, step, recorded, replayed]
}

function countRows(counts: Readonly<Record<string, number>>): string[][] {
  return Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => [name, String(count)])
}

/** Nothing for no rows. */
function titled(head: readonly string[], rows: readonly (readonly string[])[]): Table[] {
  if (rows.length === 0) return []
  const shown = rows.slice(0, mostRows).map((row) => row.map((text) => cut(text, longest)))
  const more = rows.length > mostRows ? [[[`${rows.length - mostRows} more rows: --json`]]] : []
  return [[head, ...shown], ...more]
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
