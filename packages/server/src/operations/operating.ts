import type { Access } from '../host/host.ts'
import { authenticate } from '../request/caller.ts'
import { routeNotFound } from '../request/not-found.ts'
import type { ServedOperations } from './port.ts'
import { type CanOperate, type Operator, operatorOf } from './rights.ts'

/**
 * Returns the operator who sends a request, and the operations within their tenants.
 *
 * @throws AlliumError `route.not_found` for a principal without the right
 */
export type Operating = (
  request: Request,
  right?: 'manage' | 'deny' | 'content',
) => Promise<{ readonly by: Operator; readonly runs: ServedOperations }>

export function operatingWith(
  access: Access,
  { operations, canOperate }: { operations: ServedOperations; canOperate: CanOperate },
): Operating {
  return async (request, right) => {
    const by = await operatorOf(canOperate, await authenticate(access, request))
    if (by === undefined || (right !== undefined && !by[right])) throw routeNotFound()
    return { by, runs: by.tenants === undefined ? operations : operations.within(by.tenants) }
  }
}
