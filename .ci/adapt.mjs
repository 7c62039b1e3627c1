// The names of this build, for tests of the contract that come from outside: `ALLIUM_ADAPT` names this module.
export default { onion: { queue: { onBusy: 'queue' } } }
