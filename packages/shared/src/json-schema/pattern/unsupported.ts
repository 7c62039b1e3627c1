/** A pattern that is not checked, because the linear engine has no equivalent or it is too large. */
export class Unsupported extends Error {}
