import type { Identity } from '../store/api.ts'
import { live } from '../store/store.ts'
import { brief } from './format.ts'

export interface HeaderProps {
  identity: Identity
  openPalette(): void
  openIdentity(): void
  theme: string
  toggleTheme(): void
}

/** The state of the agent's process, the principal of new sessions, and the theme. */
export function Header({ identity, openPalette, openIdentity, theme, toggleTheme }: HeaderProps) {
  const { state, agent } = live.status
  const isReady = state === 'ready' && live.isConnected
  return (
    <header class="top">
      <h1>Allium</h1>
      <span class="process" role="status">
        <span class={`dot ${isReady ? 'completed' : state === 'failed' ? 'failed' : 'running'}`} />{' '}
        {state === 'ready' ? (live.isConnected ? agent : 'connecting') : state === 'failed' ? 'error' : 'loading'}
      </span>
      <span class="space" />
      <button type="button" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
        <span class="word">Commands</span> <kbd>⌘K</kbd>
      </button>
      <button type="button" class="identity" onClick={openIdentity}>
        {`as ${brief(identity.principal, 40)}`}
      </button>
      <button
        type="button"
        onClick={toggleTheme}
        aria-label={`Switch to the ${theme === 'dark' ? 'light' : 'dark'} theme`}
      >
        {theme === 'dark' ? '☀' : '☾'}
      </button>
    </header>
  )
}

/** The error of an agent that does not load. */
export function LoadError() {
  const { state, error, isServing } = live.status
  if (live.fault !== undefined)
    return (
      <section class="load-error" role="alert">
        <strong>The agent rejects this principal. Choose another one with the button "as …".</strong>
        <pre tabIndex={0}>{live.fault}</pre>
      </section>
    )
  if (state !== 'failed') return null
  return (
    <section class="load-error" role="alert">
      <strong>
        {isServing ? 'The agent has an error. The last good version keeps running.' : 'The agent does not run.'}
      </strong>
      <pre tabIndex={0}>{error}</pre>
    </section>
  )
}
