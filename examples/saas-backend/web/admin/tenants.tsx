import { useState } from 'react'
import type { Me } from '../shared/api.ts'
import { Name } from '../shared/name.tsx'
import { useLive } from '../shared/use-asked.ts'
import { Approvals } from './approvals.tsx'
import { Audit } from './audit.tsx'
import { LiveProvider, LiveStatus } from './live.tsx'
import { pathOf } from './panel.tsx'
import { Runs } from './runs.tsx'
import { type SessionKey, type SessionList, Sessions } from './sessions.tsx'
import { Usage } from './usage.tsx'

/** The companies that an admin administers, one at a time. */
export function Tenants({ me }: { me: Me }) {
  const [tenant, choose] = useState(me.administers[0] as string)
  return (
    <>
      {me.administers.length > 1 && (
        <label className="choice">
          Company{' '}
          <select value={tenant} onChange={(event) => choose(event.target.value)}>
            {me.administers.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      <Tenant key={tenant} tenant={tenant} me={me} />
    </>
  )
}

function Tenant({ tenant, me }: { tenant: string; me: Me }) {
  const isOwn = tenant === me.tenantId
  const { asked, change, refresh } = useLive<SessionList>(pathOf(tenant, 'sessions'))
  const [open, setOpen] = useState<SessionKey>()
  const sessions = asked.state === 'ready' ? asked.value.items : []
  return (
    <LiveProvider value={{ change, refresh }}>
      <div className="heading">
        <h1>
          <Name of={isOwn ? me.tenant : tenant} />
        </h1>
        <LiveStatus asked={asked} />
      </div>
      <div className="panels">
        <Approvals tenant={tenant} isOwn={isOwn} sessions={sessions} show={setOpen} />
        <Usage tenant={tenant} />
        <Sessions tenant={tenant} asked={asked} open={open} setOpen={setOpen} />
        <Runs tenant={tenant} mayRead={me.reads.includes(tenant)} />
        <Audit tenant={tenant} />
      </div>
    </LiveProvider>
  )
}
