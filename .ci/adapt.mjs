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

export default {
  onion: { queue: { onBusy: 'queue' } },
  /** The module that exports a name now, by `package#name`. */
  moved: Object.fromEntries(moved),
}
