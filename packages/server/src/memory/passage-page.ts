import type { Page, PassageStore } from '@allium/store'
import type { Seals, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import type { PageRequest } from '../request/listing.ts'
import type { MemoryPassage } from '../sessions/memory-view.ts'

/** The conversations that one request looks into, at most: those without passages count, too. */
const maxSessions = 50
/** The most characters of a text. */
const maxText = 4_000

/** Where a page begins: at a passage of the first session after a cursor of the store. */
interface Place {
  readonly cursor?: string
  /** The session of the position. If it has moved in the list, the session at its place is read from its beginning. */
  readonly sessionId?: string
  readonly position?: number
}

/** Returns the passages of the caller: by conversation, the last changed first, and in the order of the messages. */
export async function passagePage(
  { sessions, cursors }: StoreReader & Seals,
  { tenant, owner, agent, sessionAgent }: Caller,
  passages: PassageStore,
  { cursor, limit }: PageRequest,
): Promise<Page<MemoryPassage>> {
  const scope = ['memory', agent.name, tenant, owner]
  const items: MemoryPassage[] = []
  let place: Place = cursor === undefined ? {} : placeIn(await cursors.open(cursor, scope))
  for (let looked = 0; looked < maxSessions && items.length < limit; looked++) {
    const list = { tenant, owner, agents: [sessionAgent], limit: 1 }
    const page = await sessions.list({ ...list, ...(place.cursor !== undefined && { cursor: place.cursor }) })
    const sessionId = page.items[0]?.key.sessionId
    if (sessionId === undefined) return { items }
    const from = sessionId === place.sessionId ? (place.position ?? 0) : 0
    const wanted = limit - items.length
    const places = Array.from({ length: wanted }, (_, i) => ({ sessionId, position: from + i }))
    const found = await passages.read({ tenant, owner, agent: sessionAgent }, places)
    items.push(...found.map(viewOf))
    if (found.length === wanted) place = { ...place, sessionId, position: from + wanted }
    else if (page.cursor === undefined) return { items }
    else place = { cursor: page.cursor }
  }
  return { items, cursor: await cursors.seal(JSON.stringify(place), scope) }
}

function viewOf({ sessionId, turnId, index, role, at, text }: Omit<MemoryPassage, 'isCut'>): MemoryPassage {
  const view = { sessionId, turnId, index, role, at, text }
  if (text.length <= maxText) return view
  return { ...view, text: text.slice(0, maxText).replace(/[\ud800-\udbff]$/, ''), isCut: true }
}

/** The cursor is sealed by the server, so only a former version of it may have made another one. */
function placeIn(opened: string): Place {
  const place: unknown = JSON.parse(opened)
  if (typeof place === 'object' && place !== null) return place
  throw requestError('request.invalid', 'The cursor is of a former version. Start again with the first page.', {
    field: 'cursor',
  })
}
