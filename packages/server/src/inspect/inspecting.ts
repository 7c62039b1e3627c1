import type { Access } from '../host/host.ts'
import { type Caller, resolveCaller } from '../request/caller.ts'
import { routeNotFound } from '../request/not-found.ts'
import type { AccessRule, InspectAccess } from './access.ts'

/** Returns the caller of a request and whose turns they may inspect. @throws AlliumError `route.not_found` without access */
export type Inspecting = (
  request: Request,
  agent: string | undefined,
) => Promise<{ readonly caller: Caller; readonly scope: InspectAccess }>

export function inspectingWith(access: Access, rule: AccessRule): Inspecting {
  return async (request, name) => {
    const caller = await resolveCaller(access, request, name)
    const scope = await Promise.resolve()
      .then(() => rule(caller.principal))
      .catch(() => undefined)
    if (scope === 'own' || scope === 'tenant' || scope === 'all') return { caller, scope }
    throw routeNotFound()
  }
}
