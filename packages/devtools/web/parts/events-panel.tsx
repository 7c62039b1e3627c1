import type { EventRecord } from '@allium/server/inspect'
import { useState } from 'preact/hooks'
import type { Turn } from '../store/trace.ts'
import { brief, clock, count, pretty } from './format.ts'
import { Block } from './span-details.tsx'
import { Line, moveBy } from './state-panel.tsx'
import { VirtualList } from './virtual-list.tsx'

/** The events of a session's runs, as their readers receive them. */
export function EventsPanel({ turns }: { turns: readonly Turn[] }) {
  const [filter, setFilter] = useState('')
  const [selected, setSelected] = useState<EventRecord>()
  const all = turns.flatMap(({ events }) => events)
  const events = filter === '' ? all : all.filter(({ event }) => event.type.includes(filter))
  const index = selected === undefined ? -1 : events.indexOf(selected)
  return (
    <div class="panel-body">
      <div class="toolbar">
        <label>
          Type <input value={filter} onInput={({ currentTarget }) => setFilter(currentTarget.value.trim())} />
        </label>
        <span>{count(events.length, 'event')}</span>
      </div>
      <div class={selected === undefined ? 'onion' : 'onion split'}>
        <VirtualList
          count={events.length}
          rowHeight={28}
          label="Events"
          active={index}
          follows={selected === undefined}
          onKeyDown={moveBy(index, events.length, (at) => setSelected(events[at]))}
        >
          {(at) => {
            const record = events[at] as EventRecord
            const { type, sessionId: _session, turnId: _turn, ...fields } = record.event
            return (
              <Line isSelected={record === selected} select={() => setSelected(record)}>
                <time>{clock(record.at)}</time>
                <strong>{type}</strong>
                <code>{brief(fields)}</code>
              </Line>
            )
          }}
        </VirtualList>
        {selected !== undefined && (
          <section class="details" aria-label="Event">
            <header>
              <h2>{selected.event.type}</h2>
              <button type="button" class="quiet" onClick={() => setSelected(undefined)}>
                Close
              </button>
            </header>
            <div class="details-body" tabIndex={0} role="group" aria-label="Event as JSON">
              <Block title="Event" text={pretty(selected.event)} />
            </div>
          </section>
        )}
      </div>
    </div>
  )
}
