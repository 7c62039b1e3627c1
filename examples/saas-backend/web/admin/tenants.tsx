import { useState } from 'react'
import { Audit } from './audit.tsx'
import { Sessions } from './sessions.tsx'
import { Usage } from './usage.tsx'
import { Waiting } from './waiting.tsx'

/** All there is to see of one tenant. */
export function Tenants({ tenants }: { tenants: string[] }) {
  const [tenant, choose] = useState(tenants[0] as string)
  return (
    <>
      <div className="heading">
        <h1>{tenant}</h1>
        {tenants.length > 1 && (
          <label>
            Tenant{' '}
            <select value={tenant} onChange={(event) => choose(event.target.value)}>
              {tenants.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div className="panels" key={tenant}>
        <Usage tenant={tenant} />
        <Waiting tenant={tenant} />
        <Sessions tenant={tenant} />
        <Audit tenant={tenant} />
      </div>
    </>
  )
}
