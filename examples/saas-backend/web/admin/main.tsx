import { Name } from '../shared/name.tsx'
import '../shared/base.css'
import './admin.css'
import './table.css'
import './onion.css'
import { createRoot } from 'react-dom/client'
import type { Me } from '../shared/api.ts'
import { Boundary } from '../shared/boundary.tsx'
import { Account, SignedIn } from '../shared/sign-in.tsx'
import { Broken } from '../shared/states.tsx'
import { Tenants } from './tenants.tsx'

createRoot(document.getElementById('root') as HTMLElement).render(
  <Boundary fallback={<Broken>This page could not be shown. Reload it.</Broken>}>
    <SignedIn>{(me) => <Admin me={me} />}</SignedIn>
  </Boundary>,
)

function Admin({ me }: { me: Me }) {
  return (
    <>
      <header className="top">
        <a className="brand" href="/">
          Support
        </a>
        <span className="quiet">Admin</span>
        <Account me={me} />
      </header>
      <main className="admin">{me.administers.length === 0 ? <NoAdmin name={me.name} /> : <Tenants me={me} />}</main>
    </>
  )
}

function NoAdmin({ name }: { name: string }) {
  return (
    <div className="page-state">
      <h1>Nothing to administer</h1>
      <p>
        <Name of={name} /> is not an admin of any company. Sign out, then sign in with an admin's key.
      </p>
    </div>
  )
}
