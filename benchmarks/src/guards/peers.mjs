import { createRequire } from 'node:module'
import { Agent } from '@allium/core'
import { pii } from '@allium/guard'
import { findPhoneNumbersInText } from 'libphonenumber-js'

/** What each side finds: its findings by type, and the text without them. @typedef {{ rest: string, found: Record<string, number> }} Found */

const require = createRequire(import.meta.url)

/** @returns {Record<string, (text: string) => Promise<Found>>} */
export async function sides() {
  const { pii: check } = require('@openai/guardrails/dist/checks/pii.js')
  const { secretKeysCheck } = require('@openai/guardrails/dist/checks/secret-keys.js')
  const { SyncRedactor } = require('redact-pii')
  const redactor = new SyncRedactor()
  return {
    Allium: allium({}),
    'with libphonenumber-js': allium({
      phones: { find: findPhoneNumbersInText, countries: ['US', 'GB', 'DE', 'FR', 'AU'] },
    }),
    '@openai/guardrails': (text) => openai(text, check, secretKeysCheck),
    'redact-pii': async (text) => redacted(redactor.redact(text)),
  }
}

/** The layer as it runs: what the model is sent, and what the layer tells that it found. */
function allium(options) {
  let rest = ''
  let found = {}
  const model = {
    id: 'bench/none',
    async *stream({ messages }) {
      rest = messages.at(-1).content
      yield { type: 'finish', finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, calls: 1 } }
    },
  }
  const agent = new Agent({ model }).use(pii({ show: 'none', ...options }))
  agent.on('guard:found', ({ found: type }) => {
    found[type] = (found[type] ?? 0) + 1
  })
  return async (text) => {
    found = {}
    await agent.run(text)
    return { rest, found }
  }
}

const entities = {
  EMAIL_ADDRESS: 'email',
  CREDIT_CARD: 'card',
  IBAN_CODE: 'iban',
  US_SSN: 'ssn',
  IP_ADDRESS: 'ip',
  PHONE_NUMBER: 'phone',
}

async function openai(text, pii, secretKeys) {
  const { info } = await pii({}, text, { entities: Object.keys(entities), block: false, detect_encoded_pii: false })
  const keys = await secretKeys({}, text, { threshold: 'balanced' })
  const found = {}
  for (const [entity, some] of Object.entries(info.detected_entities ?? {})) found[entities[entity]] = some.length
  const secrets = keys.info.detected_secrets ?? []
  if (secrets.length > 0) found.api_key = secrets.length
  const rest = secrets.reduce((rest, secret) => rest.replaceAll(secret, '<>'), info.checked_text ?? text)
  return { rest, found }
}

const marks = {
  EMAIL_ADDRESS: 'email',
  CREDIT_CARD_NUMBER: 'card',
  US_SOCIAL_SECURITY_NUMBER: 'ssn',
  IP_ADDRESS: 'ip',
  PHONE_NUMBER: 'phone',
}

function redacted(rest) {
  const found = {}
  for (const [mark, type] of Object.entries(marks)) {
    const count = rest.split(mark).length - 1
    if (count > 0) found[type] = count
  }
  return { rest, found }
}
