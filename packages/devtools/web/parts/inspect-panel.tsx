import { useEffect } from 'preact/hooks'
import type { Identity } from '../store/api.ts'
import type { Conversation, SessionItem } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import type { ChatTurn } from './chat-turns.ts'
import { EventsPanel } from './events-panel.tsx'
import { AgentPanel, EvalsPanel, RecallPanel, ReplayPanel, UsagePanel } from './lazy.tsx'
import { LogsPanel } from './logs-panel.tsx'
import { OnionPanel } from './onion.tsx'
import { StatePanel } from './state-panel.tsx'
import { type Tab, tabs } from './tabs.ts'

export interface InspectPanelProps {
  /** The selected session, and its turns as the chat shows them. */
  item: SessionItem | undefined
  chat: readonly ChatTurn[]
  turns: readonly Turn[]
  conversation: Conversation
  identity: Identity
  tab: Tab
  openTab(tab: Tab): void
  chosen: string | undefined
  choose(turnId: string): void
  /** Opens a session of the same person at a turn. */
  open(sessionId: string, turnId: string): void
}

/** The views next to the chat. */
export function InspectPanel(props: InspectPanelProps) {
  const { item, chat, turns, conversation, identity, tab, openTab, chosen, choose, open } = props
  useEffect(() => document.getElementById(`tab-${tab}`)?.scrollIntoView({ block: 'nearest' }), [tab])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] as typeof tab
    openTab(next)
    document.getElementById(`tab-${next}`)?.focus()
  }
  return (
    <section class="inspect" aria-label="Inspector">
      <div role="tablist" aria-label="Views" class="tabs" onKeyDown={onKeyDown}>
        {tabs.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="view"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => openTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id="view" role="tabpanel" aria-labelledby={`tab-${tab}`} class="view">
        {tab === 'Onion' && <OnionPanel turns={turns} chosen={chosen} choose={choose} />}
        {tab === 'State' && <StatePanel turns={turns} />}
        {tab === 'Events' && <EventsPanel turns={turns} />}
        {tab === 'Recall' && (
          <RecallPanel item={item} turns={turns} chat={chat} chosen={chosen} choose={choose} open={open} />
        )}
        {tab === 'Usage' && <UsagePanel item={item} conversation={conversation} turns={turns} identity={identity} />}
        {tab === 'Logs' && <LogsPanel />}
        {tab === 'Replay' && (
          <ReplayPanel item={item} turns={chat} identity={identity} chosen={chosen} choose={choose} />
        )}
        {tab === 'Evals' && <EvalsPanel />}
        {tab === 'Agent' && <AgentPanel identity={identity} />}
      </div>
    </section>
  )
}
