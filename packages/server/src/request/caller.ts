import { isAlliumError, type SessionKey } from '@allium/core'
import type { Context } from 'hono'
import type { Access } from '../host/host.ts'
import type { ErrorFormat } from '../http/error-formats.ts'
import { requestError } from '../http/problem.ts'
import type { ServedAgent } from '../options/options.ts'
import { routeNotFound } from './not-found.ts'

/** The variables that Hono stores for a request. */
export type Env = { Variables: { requestId: string; shape: ErrorFormat } }

/** An authenticated principal, and the agent that they use. */
export interface Caller {
  readonly request: Request
  readonly agent: ServedAgent
  readonly principal: unknown
  readonly tenant: string
  readonly owner: string
  /** The name under which the agent stores its sessions. */
  readonly sessionAgent: string
}

/**
 * Returns the caller of a request, with the agent that they may use.
 *
 * @throws AlliumError `request.principal` without a principal, or if no session could belong to it; `route.not_found`
 */
export async function resolveCaller(access: Access, request: Request, name?: string): Promise<Caller> {
  const principal = await authenticate(access, request)
  const agent = name === undefined ? onlyAgent(access) : access.agents.get(name)
  if (agent === undefined || !(await canUse(access, principal, name ?? agent.name))) throw routeNotFound()
  return { request, agent, principal, ...ownerOf(agent, principal) }
}

/** @throws AlliumError `request.principal` for a principal without a user */
export function ownerOf(agent: ServedAgent, principal: unknown) {
  const { tenant, owner, agent: sessionAgent } = agent.session({ principal: principal as never }).key
  if (owner !== '') return { tenant, owner, sessionAgent }
  throw requestError(
    'request.principal',
    'The principal has neither `userId` nor `user`, so its sessions would belong to nobody. Return one from `principal`.',
  )
}

export async function authenticate({ options, logger, activeRequests }: Access, request: Request): Promise<unknown> {
  let principal: unknown
  try {
    principal = await options.principal(request)
  } catch (error) {
    if (isAlliumError(error, 'store.unavailable')) throw error
    logger.warn('The function `principal` threw an error, so the request was rejected.')
  }
  if (typeof principal === 'object' && principal !== null) {
    activeRequests.acquire(request, principal)
    return principal
  }
  throw requestError('request.principal', 'Not signed in: the option `principal` found no user.')
}

export function keyOf({ tenant, owner, sessionAgent }: Caller, sessionId: string): SessionKey {
  return { tenant, owner, agent: sessionAgent, sessionId }
}

export async function canUse({ options }: Access, principal: unknown, name: string): Promise<boolean> {
  if (options.canUse === undefined) return true
  try {
    return (await options.canUse(principal, name)) === true
  } catch {
    return false
  }
}

function onlyAgent({ agents }: Access): ServedAgent | undefined {
  const [first] = agents.values()
  return agents.size === 1 ? first : undefined
}

export type Ctx = Context<Env>

/** Returns whether a secret that a caller presents is the expected one. Takes the same time for all strings of one length. */
export function timingSafeEqual(actual: string, expected: string): boolean {
  let differs = actual.length ^ expected.length
  for (let index = 0; index < actual.length; index++)
    differs |= actual.charCodeAt(index) ^ expected.charCodeAt(index % expected.length)
  return differs === 0
}
