// What JSX becomes: the build puts these names into every file.
export { Fragment, h } from "preact";
