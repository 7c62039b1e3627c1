// The names of this build, for tests of the contract that come from outside: `ALLIUM_ADAPT` names this module.
/** The exports that have left `allium`, by the module that has them now. */
const left = {
  'allium/ai-sdk': ['adaptAiSdk', 'createResolver', 'fromAiSdkMiddleware', 'ollamaUrl'],
  'allium/pack': [
    ...['digestOf', 'estimateInputTokens', 'followSignal', 'layerOptions', 'misconfigured', 'option'],
    ...['sessionKeyOf', 'sharedStore', 'sum', 'withState', 'writerOf'],
  ],
  '@allium/store': [
    ...['MemoryErasures', 'StoredFile', 'callsInside', 'checkAmount', 'checkOwner', 'checkStoreName', 'checkTurn'],
    ...[
      'decodeOutcome',
      'encodeOutcome',
      'eventText',
      'fenced',
      'filesIn',
      'heldByOtherAgent',
      'isBlob',
      'isPlainJson',
    ],
    ...['mostAmount', 'mostNameBytes', 'postedAmount', 'recordStep', 'recordStepValue', 'replayStep', 'turnConflict'],
    'turnIdTaken',
  ],
}

const moved = Object.entries(left).flatMap(([module, names]) => names.map((name) => [`allium#${name}`, module]))

/** The functions of `@allium/core/context` that were members of contexts, by the member. They take the context first. */
const functions = {
  ...{ anonymous: 'isAnonymous', inherited: 'isInherited', replaying: 'isReplaying', resumed: 'isResumed' },
  ...{
    approvalRequest: 'approvalRequestOf',
    approver: 'approverOf',
    recipients: 'recipientsOf',
    rootTurnId: 'rootTurnIdOf',
  },
  ...{ pending: 'pendingCalls', physicalCalls: 'physicalCallsOf', isRecorded: 'isRecorded', seal: 'seal' },
  ...{ inject: 'inject', record: 'record', onDisplay: 'onDisplay', resolveModel: 'resolveModel' },
  ...{ aroundRun: 'aroundRun', aroundStep: 'aroundStep', provideTurns: 'provideTurns' },
}
const members = Object.entries(functions).map(([member, name]) => [`ctx.${member}`, `@allium/core/context#${name}`])

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
}
