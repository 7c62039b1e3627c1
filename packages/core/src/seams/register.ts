/**
 * What an application says once of its own types, so that each layer, tool and callback that is written for it knows them:
 *
 * @example
 * declare module 'allium' {
 *   interface Register {
 *     principal: { tenantId: string; userId: string; roles: string[] }
 *     context: { db: Database }
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications fill it
export interface Register {}

/** The type of `ctx.principal` where nothing nearer says it: the application's, if it has one. */
export type RegisteredPrincipal = Register extends { principal: infer P } ? P : unknown
/** The same of `ctx.context`. */
export type RegisteredContext = Register extends { context: infer C } ? C : unknown
