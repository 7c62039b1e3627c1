import { useMemo, useState } from 'preact/hooks'
import type { ToolItem } from '../store/answer.ts'
import { callName } from '../store/call-name.ts'
import { live } from '../store/store.ts'
import { isOfSubAgent, type Span, type Turn } from '../store/trace.ts'
import { count, duration, money, tokens } from './format.ts'
import { isOpen, visibleSpans } from './onion-rows.ts'
import { SpanDetails } from './span-details.tsx'
import { SpanRow } from './span-row.tsx'
import { VirtualList } from './virtual-list.tsx'

export interface OnionProps {
  turns: readonly Turn[]
  /** The turn that the user chose; otherwise the last one. */
  chosen: string | undefined
  choose(turnId: string): void
}

/** The layers of a turn: each with its time, its decision and its changes. */
export function OnionPanel({ turns, chosen, choose }: OnionProps) {
  const turn = turns.find(({ turnId }) => turnId === chosen) ?? turns.findLast((one) => !isOfSubAgent(one))
  if (turn === undefined) return <p class="empty">The layers of a turn appear here as soon as it runs.</p>
  return (
    <div class="panel-body">
      <div class="toolbar">
        <label>
          Turn{' '}
          <select value={turn.turnId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {turns.slice(-50).map((one) => (
              <option key={one.turnId} value={one.turnId}>
                {titleOf(one)}
              </option>
            ))}
          </select>
        </label>
        <TurnFacts turn={turn} />
      </div>
      <OnionTree key={turn.turnId} turn={turn} />
    </div>
  )
}

function titleOf(turn: Turn): string {
  const { info, status } = turn
  const agent = info === undefined || info.agent === live.status.agent ? '' : ` ${info.agent}`
  return `${(info?.turnIndex ?? 0) + 1}${agent}${info?.resumed ? ', resumed' : ''} · ${status}`
}

function TurnFacts({ turn }: { turn: Turn }) {
  const { roots, usage, usd, spans, requests, status, reason } = turn
  return (
    <>
      <span>{duration(roots[0]?.duration)}</span>
      <span>{`${count(spans.size, 'span')}, ${count(requests.length, 'model call')}`}</span>
      {usage !== undefined && <span>{tokens(usage)}</span>}
      {usd > 0 && <span>{money(usd)}</span>}
      {reason !== undefined && <span class={`reason ${status}`}>{reason}</span>}
    </>
  )
}

function OnionTree({ turn }: { turn: Turn }) {
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set())
  const [selected, setSelected] = useState<number>()
  const rows = useMemo(() => visibleSpans(turn, toggled), [turn, toggled, turn.spans.size])
  const total = turn.roots[0]?.duration ?? Math.max(1, ...rows.slice(-1).map(({ start }) => start))
  const index = rows.findIndex(({ id }) => id === selected)
  const span = index === -1 ? undefined : rows[index]

  const toggle = ({ id }: Span) => {
    const next = new Set(toggled)
    if (!next.delete(id)) next.add(id)
    setToggled(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, { rows, index, isOpen: (one) => isOpen(one, turn, toggled), toggle })
    if (to === undefined) return
    event.preventDefault()
    const target = rows[Math.max(0, Math.min(rows.length - 1, to))]
    if (target !== undefined) setSelected(target.id)
  }
  return (
    <div class={span === undefined ? 'onion' : 'onion split'}>
      <VirtualList
        count={rows.length}
        rowHeight={28}
        label="Layers of the turn"
        role="tree"
        active={index}
        activeId={span && `span-${span.id}`}
        follows={selected === undefined && turn.status === 'running'}
        onKeyDown={onKeyDown}
      >
        {(at) => {
          const row = rows[at] as Span
          const open = row.children.length === 0 ? undefined : isOpen(row, turn, toggled)
          const isSelected = row.id === selected
          return (
            <SpanRow
              span={row}
              name={nameOf(row, turn)}
              total={total}
              open={open}
              isSelected={isSelected}
              select={() => setSelected(row.id)}
              toggle={() => toggle(row)}
            />
          )
        }}
      </VirtualList>
      {span !== undefined && <SpanDetails key={span.id} turn={turn} span={span} close={() => setSelected(undefined)} />}
    </div>
  )
}

/** The name of the call that a span is of. */
function nameOf({ subject, callId }: Span, { answer }: Turn): string | undefined {
  if (subject === undefined || callId === undefined) return subject
  const call = answer.find((item) => item.kind === 'tool' && item.callId === callId) as ToolItem | undefined
  return callName(subject, callId, call?.args)
}

interface KeyState {
  readonly rows: readonly Span[]
  readonly index: number
  isOpen(span: Span): boolean
  toggle(span: Span): void
}

/** Returns the row to select after a key, as in other trees; undefined if the key does nothing here. */
function keyTarget(key: string, { rows, index, isOpen, toggle }: KeyState): number | undefined {
  const span = rows[index]
  if (key === 'ArrowDown') return index + 1
  if (key === 'ArrowUp') return index - 1
  if (key === 'Home') return 0
  if (key === 'End') return rows.length - 1
  if (key === 'PageDown') return index + 15
  if (key === 'PageUp') return index - 15
  if (span === undefined) return undefined
  if (key === 'ArrowRight' && span.children.length > 0 && !isOpen(span)) toggle(span)
  else if (key === 'ArrowRight') return span.children.length > 0 ? index + 1 : index
  else if (key === 'ArrowLeft' && span.children.length > 0 && isOpen(span)) toggle(span)
  else if (key === 'ArrowLeft') return rows.findIndex(({ id }) => id === span.parent)
  else return undefined
  return index
}
