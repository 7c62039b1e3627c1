/** A pattern that is not checked: the linear engine has no equal for it, or it is too large. */
export class Unsupported extends Error {}
