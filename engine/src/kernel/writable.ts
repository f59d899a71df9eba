/** An object in the making. */

/** The same fields, to be set one after the other before anybody else sees them. */
export type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
