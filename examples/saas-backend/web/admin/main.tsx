import '../shared/base.css'
import './admin.css'
import { createRoot } from 'react-dom/client'
import { Account, SignedIn } from '../shared/sign-in.tsx'
import { Tenants } from './tenants.tsx'

createRoot(document.getElementById('root') as HTMLElement).render(
  <SignedIn>
    {(me) => (
      <>
        <header className="top">
          <a className="brand" href="/">
            Support
          </a>
          <span className="quiet">Admin</span>
          <Account me={me} />
        </header>
        <main className="admin">
          {me.administers.length === 0 ? (
            <div className="page-state">
              <h1>Nothing to administer</h1>
              <p>{me.name} is no admin of a tenant. Sign out, and in again with the key of one.</p>
            </div>
          ) : (
            <Tenants tenants={me.administers} />
          )}
        </main>
      </>
    )}
  </SignedIn>,
)
