/** The part of agent-express that the sample uses. The package is not on npm; its specification is what Allium implements. */
declare module 'agent-express' {
  // biome-ignore lint/suspicious/noExplicitAny: the sample is JavaScript, so its contexts have no types
  type Loose = any
  type Hook = (ctx: Loose, next: () => Promise<Loose>) => Promise<Loose>
  interface Middleware {
    name: string
    state?: Record<string, { default: unknown; reducer?: (previous: Loose, delta: Loose) => unknown }>
    agent?: Hook
    session?: Hook
    turn?: Hook
    model?: Hook
    tool?: Hook
  }
  export class Agent {
    constructor(options: { name: string; model: string; instructions: string })
    use(middleware: Middleware): this
  }
}
