/** What a connection with an OAuth provider needs. It is loaded with the first one. */
export { withAuthorization } from './authorization.ts'
export { withBoundTokens } from './bound-tokens.ts'
