import { ownerOf, type RegisteredPrincipal } from '@allium/core'

/** The rights of an operator. */
export interface OperatorRights {
  /** The tenants whose runs they see, or all. Runs of other tenants do not exist for them. */
  readonly tenants: readonly string[] | 'all'
  /** Whether they may change runs and schedules: stop, retry, restart, migrate, pause. @default false */
  readonly manage?: boolean | undefined
  /** Whether they may deny calls that wait for approval. No operator may approve one. @default false */
  readonly deny?: boolean | undefined
  /** Whether they may read the content of runs. Each access is recorded in the audit. @default false */
  readonly content?: boolean | undefined
}

/** Returns the rights of a principal, or nothing. A throw, or an invalid result, denies everything. */
export type CanOperate = (
  principal: RegisteredPrincipal,
) => OperatorRights | undefined | false | Promise<OperatorRights | undefined | false>

/** An operator with a name for the audit. */
export interface Operator {
  readonly name: string
  /** Undefined for all tenants. */
  readonly tenants: readonly string[] | undefined
  readonly manage: boolean
  readonly deny: boolean
  readonly content: boolean
}

/** Returns undefined for a principal without rights, or without a name for the audit. */
export async function operatorOf(canOperate: CanOperate, principal: unknown): Promise<Operator | undefined> {
  try {
    const rights = await canOperate(principal)
    const name = ownerOf(principal) ?? ''
    if (typeof rights !== 'object' || rights === null || name === '' || !isTenants(rights.tenants)) return undefined
    const tenants = rights.tenants === 'all' ? undefined : rights.tenants
    const { manage, deny, content } = rights
    return { name, tenants, manage: manage === true, deny: deny === true, content: content === true }
  } catch {
    return undefined
  }
}

function isTenants(value: unknown): value is OperatorRights['tenants'] {
  return value === 'all' || (Array.isArray(value) && value.every((tenant) => typeof tenant === 'string'))
}
