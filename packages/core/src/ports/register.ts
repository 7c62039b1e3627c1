/**
 * Declares an application's own types once, for all its layers, tools and callbacks:
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

/** The default type of `ctx.principal`: the registered type, if there is one. */
export type RegisteredPrincipal = Register extends { principal: infer P } ? P : unknown
/** The default type of `ctx.context`. */
export type RegisteredContext = Register extends { context: infer C } ? C : unknown
