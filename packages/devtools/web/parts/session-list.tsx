import { itemKey, ownerName, type SessionItem } from '../store/sessions.ts'
import { clock } from './format.ts'

export interface SessionListProps {
  items: readonly SessionItem[]
  /** Undefined if the agent has no store of its own. */
  readOnly: readonly SessionItem[] | undefined
  selected: SessionItem | undefined
  select(item: SessionItem | undefined): void
}

const shown = 60

/** The sessions of the inspector's store and of running turns, last changed first, and those of the agent's own store. */
export function SessionList({ items, readOnly, selected, select }: SessionListProps) {
  return (
    <nav class="sessions" aria-label="Sessions">
      <button type="button" class="new" onClick={() => select(undefined)}>
        New session
      </button>
      <Items items={items} selected={selected} select={select} />
      {readOnly !== undefined && (
        <>
          <h2>Store of the agent, read-only</h2>
          {readOnly.length === 0 && <p class="empty">No sessions of this agent in the tenant of the principal.</p>}
          <Items items={readOnly} selected={selected} select={select} />
        </>
      )}
    </nav>
  )
}

function Items({ items, selected, select }: Pick<SessionListProps, 'items' | 'selected' | 'select'>) {
  const current = selected && itemKey(selected)
  return (
    <>
      <ul>
        {items.slice(0, shown).map((item) => (
          <li key={itemKey(item)}>
            <button
              type="button"
              class="session-item"
              aria-current={itemKey(item) === current}
              onClick={() => select(item)}
            >
              <span class="name">{item.id}</span>
              <span class="facts">
                <span class={`dot ${item.status}`} /> {item.status} · {clock(item.updatedAt)}
                {` · ${ownerName(item)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {items.length > shown && <p class="empty">{`${items.length - shown} more`}</p>}
    </>
  )
}
