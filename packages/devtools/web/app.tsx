import { useCallback, useEffect, useState } from 'preact/hooks'
import { Chat } from './parts/chat.tsx'
import { type ChatTurn, chatTurns } from './parts/chat-turns.ts'
import { Header, LoadError } from './parts/header.tsx'
import { InspectPanel } from './parts/inspect-panel.tsx'
import { IdentityDialog, Palette, SaveCaseDialog } from './parts/lazy.tsx'
import { SessionList } from './parts/session-list.tsx'
import type { Tab } from './parts/tabs.ts'
import { useChatActions } from './parts/use-chat-actions.ts'
import { useConversation } from './parts/use-conversation.ts'
import { usePalette } from './parts/use-palette.ts'
import type { ChatTarget } from './parts/use-scroll-to.ts'
import { useTheme } from './parts/use-theme.ts'
import type { Identity } from './store/api.ts'
import { Files, type LoadFile, loadFile } from './store/files.ts'
import { keepSelection, readSelection } from './store/selection.ts'
import { identityOf, listReadOnly, listSessions, mergeSessions, type SessionItem } from './store/sessions.ts'
import { changed, currentIdentity, live, liveTurns, trace, useStore } from './store/store.ts'

const places = ['Sessions', 'Chat', 'Inspect'] as const

export function App() {
  useStore()
  const { theme, toggle } = useTheme()
  const identity = currentIdentity()
  const identityText = JSON.stringify(identity)
  const [isSearching, setSearching] = usePalette()
  const [isChoosing, setChoosing] = useState(false)
  const [listed, setListed] = useState<SessionItem[]>([])
  const [readOnly, setReadOnly] = useState<SessionItem[]>([])
  const [selected, setSelected] = useState(readSelection)
  const [chosen, setChosen] = useState<string>()
  const [target, setTarget] = useState<ChatTarget>()
  const [tab, setTab] = useState<Tab>('Onion')
  const [saving, setSaving] = useState<ChatTurn>()
  const [place, setPlace] = useState<(typeof places)[number]>('Chat')
  useEffect(() => {
    if (live.status.agent === undefined) return
    listSessions(identity).then(setListed, () => {})
    if (live.status.readOnly === undefined) setReadOnly([])
    else listReadOnly(identity).then(setReadOnly, () => setReadOnly([]))
  }, [identityText, live.status.at])

  const known = selected === undefined || selected.isReadOnly ? listed : [selected, ...listed]
  const sessions = mergeSessions(known, trace.turns.values())
  const loaded = useConversation(selected, identity)
  const load = useCallback<LoadFile>(
    async (file) => {
      if (selected === undefined) throw new Error('No session is selected.')
      return loadFile(selected, identityOf(selected, liveTurns(selected), identity), file)
    },
    [selected, identityText],
  )
  const select = (item: SessionItem | undefined) => {
    setSelected(item)
    keepSelection(item)
    setChosen(undefined)
    setTarget(undefined)
    setPlace('Chat')
  }
  const open = (id: string, turnId: string) => {
    if (selected === undefined) return
    const { tenant, owner } = selected
    select({ id, tenant, owner, status: '', updatedAt: 0 })
    setTarget({ turnId })
  }
  const choose = (identity: Identity) => {
    live.chosen = identity
    changed()
  }
  const inspect = (turnId: string) => {
    setChosen(turnId)
    setPlace('Inspect')
  }
  const replay = (turnId: string) => {
    inspect(turnId)
    setTab('Replay')
  }
  const openView = (tab: Tab) => {
    setTab(tab)
    setPlace('Inspect')
  }
  const openIdentity = () => setChoosing(true)
  const chat = useChatActions({
    item: selected,
    identity,
    load,
    select,
    inspect,
    replay,
    saveCase: setSaving,
    reload: loaded.reload,
  })
  const turns = chatTurns(loaded.conversation, loaded.turns)
  const { stop, actions } = chat
  const targets = {
    sessions: [...sessions, ...readOnly],
    turns,
    theme,
    select,
    openView,
    actAs: choose,
    openIdentity,
    toggleTheme: toggle,
    stop,
  }
  return (
    <div class={`app at-${place}`}>
      <Header
        identity={identity}
        openPalette={() => setSearching(true)}
        openIdentity={openIdentity}
        theme={theme}
        toggleTheme={toggle}
      />
      <LoadError />
      <main>
        <Files.Provider value={load}>
          <SessionList
            items={sessions}
            readOnly={live.status.readOnly && readOnly}
            selected={selected}
            select={select}
          />
          <Chat item={selected} loaded={loaded} turns={turns} chat={chat} target={target} />
          {saving !== undefined && (
            <SaveCaseDialog turn={saving} turns={turns} identity={chat.owner} close={() => setSaving(undefined)} />
          )}
          <InspectPanel
            item={selected}
            chat={turns}
            turns={trace.withSubAgents(loaded.turns)}
            conversation={loaded.conversation}
            identity={identity}
            tab={tab}
            openTab={setTab}
            chosen={chosen}
            choose={setChosen}
            open={open}
          />
        </Files.Provider>
      </main>
      <nav class="places" aria-label="Parts of the page">
        {places.map((name) => (
          <button key={name} type="button" aria-current={name === place} onClick={() => setPlace(name)}>
            {name}
          </button>
        ))}
      </nav>
      {isSearching && <Palette targets={{ ...targets, ...actions }} close={() => setSearching(false)} />}
      {isChoosing && <IdentityDialog identity={identity} apply={choose} close={() => setChoosing(false)} />}
    </div>
  )
}
