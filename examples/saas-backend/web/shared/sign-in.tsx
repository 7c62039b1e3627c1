import { type FormEvent, type ReactNode, useState } from 'react'
import { ask, type Me, type Refused } from './api.ts'
import { useAsked } from './use-asked.ts'

/** Shows what it holds to somebody who is signed in, and asks everybody else for a key. */
export function SignedIn({ children }: { children(me: Me): ReactNode }) {
  const [me, again] = useAsked<{ me: Me | null }>('/me')
  if (me.state === 'loading')
    return (
      <p className="page-state" aria-busy="true">
        Loading…
      </p>
    )
  if (me.state === 'ready') return me.value.me === null ? <SignInForm done={again} /> : children(me.value.me)
  return (
    <div className="page-state" role="alert">
      <p>{me.error.message}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  )
}

function SignInForm({ done }: { done(): void }) {
  const [key, setKey] = useState('')
  const [error, setError] = useState<string>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await ask('/sign-in', { body: { key } }).then(done, (refused: Refused) => setError(refused.message))
  }
  return (
    <main className="sign-in">
      <img src={new URL('./icon.svg', import.meta.url).href} alt="" width="40" height="40" />
      <h1>Sign in</h1>
      <p className="quiet">With the API key that you were given. The terminal in which the demo runs shows some.</p>
      <form onSubmit={submit}>
        <input className="hidden" tabIndex={-1} aria-hidden="true" autoComplete="username" readOnly value="api-key" />
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          value={key}
          aria-describedby={error && 'key-error'}
          aria-invalid={error !== undefined}
          onChange={(event) => setKey(event.target.value)}
        />
        {error && (
          <p id="key-error" className="error-text" role="alert">
            {error}
          </p>
        )}
        <button type="submit" className="primary">
          Sign in
        </button>
      </form>
    </main>
  )
}

/** Who is signed in, and the way out. */
export function Account({ me }: { me: Me }) {
  const leave = async () => {
    await ask('/sign-out', { method: 'POST' })
    location.reload()
  }
  return (
    <div className="account">
      <span className="who">
        <strong>{me.name}</strong>
        <span className="quiet">
          {me.tenant} · {me.plan}
        </span>
      </span>
      <button type="button" className="plain" onClick={leave}>
        Sign out
      </button>
    </div>
  )
}
