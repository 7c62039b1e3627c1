import { type FormEvent, type ReactNode, useState } from 'react'
import { ask, type Me } from './api.ts'
import { Name } from './name.tsx'
import { sentenceOf } from './problems.ts'
import { Failed, Loading } from './states.tsx'
import { clearTabValues } from './tab-value.ts'
import { useAsked } from './use-asked.ts'

/** Shows its children to signed-in users, and a sign-in form to others. */
export function SignedIn({ children }: { children(me: Me): ReactNode }) {
  const [me, again] = useAsked<{ me: Me | null }>('/me')
  if (me.state === 'loading') return <Loading />
  if (me.state === 'failed') return <Failed error={me.error} again={again} />
  return me.value.me === null ? <SignInForm done={again} /> : children(me.value.me)
}

function SignInForm({ done }: { done(): void }) {
  const [key, setKey] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    await ask('/sign-in', { body: { key } }).then(done, (refused) => setError(sentenceOf(refused)))
    setBusy(false)
  }
  return (
    <main className="sign-in">
      <img src={new URL('./icon.svg', import.meta.url).href} alt="" width="40" height="40" />
      <h1>Sign in</h1>
      <p className="quiet">Enter your API key. The terminal that runs this demo shows a few to try.</p>
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
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}

/** The signed-in user, with a button to sign out. */
export function Account({ me }: { me: Me }) {
  const leave = async () => {
    await ask('/sign-out', { method: 'POST' }).catch(() => {})
    clearTabValues()
    location.reload()
  }
  return (
    <div className="account">
      <span className="who">
        <strong>
          <Name of={me.name} />
        </strong>
        <span className="quiet">
          <Name of={me.tenant} />
          <span className="plan">
            {' '}
            · <Name of={me.plan} />
          </span>
        </span>
      </span>
      <button type="button" className="plain" onClick={leave}>
        Sign out
      </button>
    </div>
  )
}
