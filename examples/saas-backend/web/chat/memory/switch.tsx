import type { MemoryView } from '@allium/server/memory-client'

/** Switches memory on and off. An operator may have switched it off for the whole company. */
export function Switch({ off, set }: Pick<MemoryView, 'off'> & { set(on: boolean): void }) {
  const isOffForTenant = off.tenant !== undefined
  return (
    <section className="switch">
      <label>
        <input
          type="checkbox"
          checked={off.person === undefined && !isOffForTenant}
          disabled={isOffForTenant}
          aria-describedby="memory-switch"
          onChange={(event) => set(event.target.checked)}
        />
        Remember me
      </label>
      <p className="quiet" id="memory-switch">
        {isOffForTenant
          ? 'Your company has switched memory off.'
          : 'While this is off, we keep nothing new and use nothing of the following. It stays until you delete it.'}
      </p>
    </section>
  )
}
