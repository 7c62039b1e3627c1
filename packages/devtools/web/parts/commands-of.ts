import type { Identity } from '../store/api.ts'
import type { Command } from '../store/commands.ts'
import { readPresets } from '../store/presets.ts'
import { ownerName, type SessionItem } from '../store/sessions.ts'
import type { ChatTurn } from './chat-turns.ts'
import { brief } from './format.ts'
import { type Tab, tabs } from './tabs.ts'

export interface CommandTargets {
  sessions: readonly SessionItem[]
  turns: readonly ChatTurn[]
  theme: string
  select(item: SessionItem | undefined): void
  openView(tab: Tab): void
  actAs(identity: Identity): void
  openIdentity(): void
  toggleTheme(): void
  stop(): Promise<void>
  fork(turn: ChatTurn): Promise<void>
  canFork: boolean
}

/** Returns the commands that the page has now. */
export function commandsOf(targets: CommandTargets): Command[] {
  const { sessions, turns, theme, select, openView, actAs, openIdentity, toggleTheme, stop, fork, canFork } = targets
  const last = turns.at(-1)
  const action = (name: string, run: () => void): Command => ({ group: 'Action', name, run })
  return [
    action('New session', () => {
      select(undefined)
      focusMessage()
    }),
    action('Write a message', focusMessage),
    ...(last?.status === 'running' ? [action('Stop the turn', () => void stop())] : []),
    ...(last?.isStored === true && canFork ? [action('Fork the session', () => void fork(last))] : []),
    action('Act as another principal', openIdentity),
    action(`Switch to the ${theme === 'dark' ? 'light' : 'dark'} theme`, toggleTheme),
    ...tabs.map((name): Command => ({ group: 'View', name, run: () => openView(name) })),
    ...readPresets().map(
      ({ name, identity }): Command => ({
        group: 'Act as',
        name,
        hint: brief(identity.principal, 60),
        run: () => actAs(identity),
      }),
    ),
    ...sessions.slice(0, 500).map(
      (item): Command => ({
        group: 'Session',
        name: item.id,
        hint: `${item.status} · ${ownerName(item)}${item.isReadOnly ? ' · read-only' : ''}`,
        run: () => select(item),
      }),
    ),
  ]
}

/** After the page has shown the chat, which hides on small screens. */
function focusMessage(): void {
  setTimeout(() => document.querySelector<HTMLElement>('.composer textarea')?.focus())
}
