import { useState } from 'react'
import type { Me } from '../shared/api.ts'
import { Account } from '../shared/sign-in.tsx'
import { useLive } from '../shared/use-asked.ts'
import { focusComposer } from './composer.tsx'
import { Conversations, conversationsId, type Listing } from './conversations.tsx'
import { Loaded } from './loaded.tsx'
import { Memory } from './memory/memory.tsx'
import { useOpenChat } from './use-open-chat.ts'

const [page, most] = [30, 100]

/** The page of a signed-in user: their conversations, and the open one from the address. */
export function Chats({ me }: { me: Me }) {
  const { id, isNew, begin } = useOpenChat()
  const [limit, setLimit] = useState(page)
  const [showsMemory, setShowsMemory] = useState(false)
  const listing = useLive<Listing>(`/api/sessions?limit=${limit}`)
  const { sessions, cursor } =
    listing.asked.state === 'ready' ? listing.asked.value : { sessions: [], cursor: undefined }
  const open = sessions.find((session) => session.id === id)
  const hasMore = cursor !== undefined && limit < most
  const deleted = (sessionId = id) => {
    if (sessionId === id) begin()
    listing.refresh()
  }
  return (
    <div className="frame">
      <header className="top">
        <button type="button" className="skip" onClick={focusComposer}>
          Skip to the message box
        </button>
        <button type="button" className="menu" popoverTarget={conversationsId}>
          Conversations
        </button>
        <a className="brand" href="/">
          Support
        </a>
        {me.administers.length > 0 && <a href="/admin">Admin</a>}
        <Account me={me} />
      </header>
      <Conversations
        listing={listing}
        open={id}
        begin={begin}
        more={hasMore ? () => setLimit(Math.min(limit + page, most)) : undefined}
        showMemory={() => setShowsMemory(true)}
      />
      {showsMemory && <Memory close={() => setShowsMemory(false)} deleted={deleted} />}
      <main className="open-chat">
        <Loaded
          key={id}
          id={id}
          isNew={isNew}
          me={me}
          revision={open && `${open.version} ${open.status}`}
          isStopped={open?.status === 'aborted'}
          changed={listing.refresh}
        />
      </main>
    </div>
  )
}
