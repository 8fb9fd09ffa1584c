// A library with a state that nobody listed, for the check of state.sh.
namespace gpunet {

int forgotten = 0;

}
