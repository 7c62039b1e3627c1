import type { SessionItem } from '../store/sessions.ts'
import { clock } from './format.ts'

export interface SessionListProps {
  items: readonly SessionItem[]
  selected: SessionItem | undefined
  select(item: SessionItem | undefined): void
}

const shown = 60

export function ownerName({ tenant, owner }: Pick<SessionItem, 'tenant' | 'owner'>): string {
  return tenant === '' ? owner : `${owner} of ${tenant}`
}

/** The sessions of the store and of running turns, last changed first. */
export function SessionList({ items, selected, select }: SessionListProps) {
  const isSelected = (item: SessionItem) =>
    item.id === selected?.id && item.owner === selected.owner && item.tenant === selected.tenant
  return (
    <nav class="sessions" aria-label="Sessions">
      <button type="button" class="new" onClick={() => select(undefined)}>
        New session
      </button>
      <ul>
        {items.slice(0, shown).map((item) => (
          <li key={`${item.tenant} ${item.owner} ${item.id}`}>
            <button type="button" class="session-item" aria-current={isSelected(item)} onClick={() => select(item)}>
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
    </nav>
  )
}
