import { turn } from './turn.js'

const outcome = await turn().catch((error) => ({ error: String(error.stack) }))
await fetch('/outcome', { method: 'POST', body: JSON.stringify(outcome) })
