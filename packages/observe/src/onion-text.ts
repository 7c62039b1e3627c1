import { checkOptions, type KeysOf } from '@allium/core/internal'
import { oneLine } from './one-line.ts'
import { headingOf, inMs, unknownTurn } from './onion-heading.ts'
import type { Decision, OnionSpan, OnionTurn, TracedScope } from './onion-turn.ts'

export interface OnionTextOptions {
  /** The width of a line in columns. Longer lines are truncated; `explain()` has everything. @default 90 */
  width?: number | undefined
  /** Colors a piece of a line. The layout is computed before. @default unchanged */
  paint?(text: string, kind: OnionTextKind): string
}

const optionKeys: KeysOf<OnionTextOptions> = { width: true, paint: true }

/**
 * The pieces of a line: the branches of the tree, the call that begins there, the layer (for the core: the loop, the
 * model or the tool), its time, and the decision by its weight. `changed`: it changed the call. `stopped`: the call ended there.
 */
export type OnionTextKind = 'heading' | 'branch' | 'call' | 'layer' | 'core' | 'time' | 'passed' | 'changed' | 'stopped'

/** Returns a turn as a tree: each layer with its self time and its decision, in columns. */
export function turnToText(turnId: string, turn: OnionTurn | undefined, options: OnionTextOptions = {}): string {
  checkOptions(options, optionKeys, 'toText()', 'options.invalid')
  const { width = 90, paint = (text) => text } = options
  if (turn === undefined) return unknownTurn(turnId)
  const rows = [...rowsOf(turn.root, '', '')]
  const columns = columnsFor(rows, width)
  const lines = rows.map((row) => toLine(row, columns, (text, kind) => (text === '' ? '' : paint(text, kind))))
  return [paint(truncateEnd(headingOf(turn), width), 'heading'), ...lines].join('\n')
}

interface Row {
  /** Three columns per level of the tree. */
  branch: string
  call: string
  layer: string
  core: boolean
  time: string
  decision: string
  weight: 'passed' | 'changed' | 'stopped'
}

function* rowsOf(span: OnionSpan, indent: string, elbow: string, outer?: TracedScope): Generator<Row> {
  const { scope, subject, layer, core, self, decision, children } = span
  const call = subject === undefined || core ? scope : `${scope} ${oneLine(subject)}`
  yield {
    branch: indent + (elbow || '└─ '),
    call: scope === outer ? '' : `${call} · `,
    layer: oneLine(layer),
    core,
    time: inMs(self),
    decision: decisionText(span),
    weight: weights[decision],
  }
  const inner = indent + (elbow === '├─ ' ? '│  ' : '   ')
  for (const [at, child] of children.entries())
    yield* rowsOf(child, inner, at === children.length - 1 ? '└─ ' : '├─ ', scope)
}

/** Returns an empty text for a core that did its normal work. */
export function decisionText({ core, decision, entered, detail, changed = [] }: OnionSpan): string {
  if (core && decision === 'passed') return ''
  const fields = changed.length === 0 ? '' : ` ${changed.map(({ field }) => field).join(', ')}`
  const what = decision === 'retried' ? times(entered) : decision === 'changed' ? `changed${fields}` : decision
  return detail === undefined ? what : `${what}: ${oneLine(detail)}`
}

export const weights: Record<Decision, Row['weight']> = {
  passed: 'passed',
  changed: 'changed',
  skipped: 'changed',
  retried: 'changed',
  recovered: 'changed',
  running: 'changed',
  denied: 'stopped',
  suspended: 'stopped',
  blocked: 'stopped',
  aborted: 'stopped',
  failed: 'stopped',
  left: 'stopped',
}

interface Columns {
  /** Columns per level of the tree; 3 if there is room. */
  step: number
  name: number
  time: number
  decision: number
}

/** Returns the column widths of a tree. A tree that is too deep for the width has narrower levels. */
function columnsFor(rows: readonly Row[], width: number): Columns {
  const time = longest(rows.map((row) => row.time))
  const available = Math.max(
    20,
    width - time - 2 * columnGap.length - Math.min(24, longest(rows.map((row) => row.decision))),
  )
  const nameAt = (indent: number) =>
    rows.map(({ branch, call, layer }) => indentBranch(branch, indent) + truncateEnd(call + layer, available / 2))
  const step = [3, 2].find((one) => longest(nameAt(one)) <= available) ?? 1
  const name = Math.min(
    available,
    longest(rows.map(({ branch, call, layer }) => indentBranch(branch, step) + call + layer)),
  )
  return { step, name, time, decision: Math.max(20, width - name - time - 2 * columnGap.length) }
}

function toLine(row: Row, columns: Columns, paint: NonNullable<OnionTextOptions['paint']>): string {
  const label = row.call + row.layer
  const branch = truncateStart(
    indentBranch(row.branch, columns.step),
    columns.name - Math.min(label.length, columns.name / 2),
  )
  const name = truncateEnd(label, columns.name - branch.length)
  const layer = name.slice(row.call.length)
  const filled = ' '.repeat(columns.name - branch.length - name.length)
  const named = `${paint(name.slice(0, row.call.length), 'call')}${paint(layer, row.core ? 'core' : 'layer')}${filled}`
  const time = paint(row.time.padStart(columns.time), 'time')
  const decision = paint(truncateEnd(row.decision, columns.decision), row.weight)
  return [`${paint(branch, 'branch')}${named}`, time, decision].filter(Boolean).join(columnGap)
}

const columnGap = '  '

/** Returns a branch with narrower levels. */
function indentBranch(branch: string, step: number): string {
  return branch.replace(/.{3}/g, (level) => level.slice(0, step))
}

function truncateEnd(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.floor(width) - 1)}…` : text
}

function truncateStart(text: string, width: number): string {
  return text.length > width ? `…${text.slice(1 - Math.floor(width))}` : text
}

function longest(texts: readonly string[]): number {
  return texts.reduce((max, { length }) => Math.max(max, length), 0)
}

function times(entered: number): string {
  return entered === 2 ? 'retried once' : `retried ${entered - 1} times`
}
