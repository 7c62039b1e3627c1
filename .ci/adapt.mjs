// The names of this build, for tests of the contract that come from outside: `ALLIUM_ADAPT` names this module.
/** The exports that have moved, by the package that they left and the module that has them now. */
const left = {
  allium: {
    'allium/ai-sdk': 'adaptAiSdk createResolver fromAiSdkMiddleware ollamaUrl',
    'allium/pack':
      'addUsage digestOf estimateInputTokens followSignal layerOptions misconfigured noUsage option sessionKeyOf sharedStore sum withState writerOf',
    '@allium/store':
      'MemoryErasures StoredFile callsInside checkAmount checkOwner checkStoreName checkTurn decodeOutcome encodeOutcome eventText fenced filesIn heldByOtherAgent isBlob isPlainJson mostAmount mostNameBytes postedAmount recordStep recordStepValue replayStep turnConflict turnIdTaken',
  },
  '@allium/detect': {
    '@allium/shared/detect':
      'TextWindow findAll fold hideSecrets isDigit isLetter isSecretName isWord keyDetectors keyRules replaceFound runEnd runStart',
  },
  '@allium/event-log': {
    '@allium/store/event-log': 'Inbox LiveEvents LogWriter RunOutput entryOf maxUnlogged openedEvent toEntry',
  },
  '@allium/json-schema': { '@allium/shared/json-schema': 'untrustedSchema' },
  '@allium/prices': { '@allium/shared/prices': 'costAt createPricing createUnpricedWarning' },
  '@allium/resilience': {
    '@allium/shared/resilience':
      'SingleFlight backoff isNonRetryable isTransient memoryKeyValue pause retryAfter sharersOf statusOf',
  },
}

const moved = Object.entries(left).flatMap(([from, modules]) =>
  Object.entries(modules).flatMap(([to, names]) => names.split(' ').map((name) => [`${from}#${name}`, to])),
)

/** The functions of `@allium/core/context` that were members of contexts, by the member. They take the context first. */
const functions = {
  ...{ anonymous: 'isAnonymous', inherited: 'isInherited', replaying: 'isReplaying', resumed: 'isResumed' },
  ...{ approvalRequest: 'approvalRequestOf', approver: 'approverOf', recipients: 'recipientsOf' },
  ...{
    pending: 'pendingCalls',
    physicalCalls: 'physicalCallsOf',
    rootTurnId: 'rootTurnIdOf',
    isRecorded: 'isRecorded',
  },
  ...{ inject: 'inject', record: 'record', onDisplay: 'onDisplay', resolveModel: 'resolveModel', seal: 'seal' },
  ...{ aroundRun: 'aroundRun', aroundStep: 'aroundStep', provideTurns: 'provideTurns' },
}
const members = Object.entries(functions).map(([member, name]) => [`ctx.${member}`, `@allium/core/context#${name}`])

/** The options that have another name now, by the function that takes them. Two of them take another value, which the comments say. */
const options = {
  'guard.budget': { account: 'per', holdFor: 'lease' },
  'guard.rateLimit': { key: 'per' }, // of each rate
  'guard.concurrency': { key: 'per', queue: 'maxQueueSize' },
  'guard.content': { action: 'onFinding' },
  'guard.pii': { strategy: 'onFinding' },
  'guard.files': { urls: 'onUrl', args: 'pathArgs' },
  'guard.input': { toolResults: 'apply' }, // ['input', 'toolResults'] instead of true
  'guard.injection': { trusted: 'trustedTools', privileged: 'privilegedTools' },
  'model.structured': { tries: 'attempts' },
  'model.selectTools': { max: 'maxTools', hint: 'instructions' },
  'memory.compact': { window: 'contextWindow', prompt: 'instructions', summaryTokens: 'maxSummaryTokens' },
  'memory.truncate': { messages: 'maxMessages', tokens: 'maxTokens' },
  'memory.plan': { tool: 'name' },
  'tools.truncate': { maxChars: 'maxLength', keep: 'side' },
  'tools.agent': { run: 'runOptions' },
  'observe.onion': { turns: 'maxTurns' },
  canary: { by: 'per' },
  shadow: { record: 'onDecision' },
  sqlite: { eventTtl: 'eventRetention' },
  postgres: { eventTtl: 'eventRetention' },
  redis: { eventTtl: 'eventRetention' },
  memoryEventLog: { eventTtl: 'eventRetention' },
  memoryLedger: { accounts: 'maxAccounts', settled: 'maxSettled', settledFor: 'settledRetention' },
  server: { maxBody: 'maxBodyBytes' },
  inspector: { records: 'maxRecords', size: 'maxSize' },
  createClient: { delay: 'backoff' },
  'durable.migrate': { check: 'dryRun' },
  'operations.migrate': { check: 'dryRun' },
  'operations.bulk': { check: 'dryRun' },
  runLayer: { agent: 'agentOptions' },
  layerConformance: { agent: 'agentOptions' },
  ledgerConformance: { ttl: 'lease', delay: 'sleep' },
  eventLogConformance: { eventTtl: 'eventRetention', delay: 'sleep' },
}

export default {
  onion: { queue: { onBusy: 'queue' } },
  /** The module that exports a name now, by `package#name`. */
  moved: Object.fromEntries(moved),
  /** What is in place of a member of a context now: a function, or another member. */
  members: {
    ...Object.fromEntries(members),
    'ctx.owner': 'ctx.sessionKey.owner',
    'ctx.maxSteps': 'ctx.plan.maxSteps',
    'ctx.onRetryAfterOutput': 'ctx.plan.onRetryAfterOutput',
  },
  options,
}
