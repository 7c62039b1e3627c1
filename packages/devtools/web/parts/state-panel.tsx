import type { StateRecord } from '@allium/server/inspect'
import { useState } from 'preact/hooks'
import { reducersIn, type StateValue, valuesAfter } from '../store/state-values.ts'
import type { Turn } from '../store/trace.ts'
import { brief, clock, pretty } from './format.ts'
import { VirtualList } from './virtual-list.tsx'

/** The state of a session over time: each write with its layer, and the values after it. */
export function StatePanel({ turns }: { turns: readonly Turn[] }) {
  const [selected, setSelected] = useState<number>()
  const writes = turns.flatMap(({ state }) => state)
  if (writes.length === 0) return <p class="empty">No layer has written to the state of this session.</p>
  const last = Math.min(selected ?? writes.length - 1, writes.length - 1)
  const reducers = reducersIn(writes)
  return (
    <div class="panel-body split">
      <VirtualList
        count={writes.length}
        rowHeight={28}
        label="Writes to the state"
        active={last}
        follows={selected === undefined}
        onKeyDown={moveBy(last, writes.length, setSelected)}
      >
        {(index) => {
          const { at, key, layer, value } = writes[index] as StateRecord
          return (
            <Line isSelected={index === last} select={() => setSelected(index)}>
              <time>{clock(at)}</time>
              <strong>{key}</strong>
              <span class="subject">{layer}</span>
              <code>{brief(value)}</code>
            </Line>
          )
        }}
      </VirtualList>
      <section class="details details-body" aria-label="Values after this write" tabIndex={0}>
        {valuesAfter(writes, last)
          .slice(0, 100)
          .map(([key, value]) => (
            <Value key={key} name={key} state={value} reducer={reducers.get(key)} />
          ))}
      </section>
    </div>
  )
}

/** A key with its reducer and its value; for the key of the selected write, also the value before. */
function Value({ name, state, reducer }: { name: string; state: StateValue; reducer: string | undefined }) {
  const { value, written } = state
  return (
    <div class={written === undefined ? 'block' : 'change'}>
      <div class="label">{name}</div>
      <div class="subject">{reducer === undefined ? 'no reducer: the last write wins' : <code>{reducer}</code>}</div>
      {written?.before !== undefined && <pre class="removed">{pretty(written.before)}</pre>}
      <pre class={written === undefined ? '' : 'added'}>{pretty(value)}</pre>
    </div>
  )
}

/** Returns a handler that moves a selection with the arrow keys. */
export function moveBy(index: number, count: number, select: (index: number) => void) {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 15,
    PageUp: -15,
    Home: -count,
    End: count,
  }
  return (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    select(Math.max(0, Math.min(count - 1, index + step)))
  }
}

interface LineProps {
  isSelected: boolean
  select(): void
  children: preact.ComponentChildren
}

/** A row of a list that a click selects. */
export function Line({ isSelected, select, children }: LineProps) {
  return (
    <div role="listitem" class={isSelected ? 'line selected' : 'line'} aria-current={isSelected} onClick={select}>
      {children}
    </div>
  )
}
