/** The console: a page that shows the system live. */
export {};
